// Any page: nothing overflows, colours are readable in both themes, controls are not printed, figures need no script.
import assert from "node:assert/strict";

export async function play(page, { script }) {
  const { wide, width } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, width: innerWidth }));
  assert.ok(wide <= width, `the page is ${wide} wide in a window of ${width}`);
  assert.ok(await page.locator("#curves figure svg").first().isVisible());
  assert.ok(await page.locator("#checklist li").first().isVisible());
  await page.locator("#curves details.data summary").first().click();
  assert.ok(await page.locator("#curves details.data table").first().isVisible());
  if (!script) return;
  const themes = new Set();
  for (const expected of ["light", "dark", "auto"]) {
    await page.locator("#theme").click();
    assert.equal(await page.locator("#theme").textContent(), `Theme: ${expected}`);
    const colours = await page.evaluate(readColours);
    themes.add(colours.paper);
    for (const [name, ratio] of Object.entries(colours.ratios))
      assert.ok(ratio >= (/^s\d|q5|heat|link/.test(name) ? 3 : 4.5), `${name} has a contrast of ${ratio.toFixed(2)} in the theme ${expected}`);
  }
  assert.equal(themes.size, 2);
  const captions = await page.locator("figcaption").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.firstChild.textContent));
  assert.ok(captions.length > 3 && captions.filter((text) => text.includes("BLEU")).length <= 1, `one chart of BLEU: ${captions}`);
  const folded = () => page.locator("details:not([open])").count(), before = await folded();
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction(() => document.querySelectorAll("details.more[open]").length === document.querySelectorAll("details.more").length);
  const still = await page.locator("details:not([open])").evaluateAll((all) => all.filter((one) => !one.matches(".data") || one.querySelectorAll("tr").length <= 12).length);
  assert.ok(before > 0 && still === 0, `${still} of ${before} parts are folded on paper`);
  assert.ok(!(await page.locator("header").isVisible()));
  assert.ok(await page.locator("#curves figure svg").first().isVisible());
  await page.emulateMedia({ media: "screen" });
  await page.waitForFunction((count) => document.querySelectorAll("details:not([open])").length === count, before);
  assert.equal(await folded(), before, "on the screen they are as they were");
}

// Returns the WCAG contrast of each colour on a card.
function readColours() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const pixel = (name) => {
    probe.style.color = `var(--${name})`;
    canvas.fillStyle = getComputedStyle(probe).color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const card = luminance(pixel("card")), ratios = {};
  for (const name of ["ink", "muted", "accent", "heat", "link", "q5", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"]) {
    const [low, high] = [luminance(pixel(name)), card].sort((a, b) => a - b);
    ratios[name] = (high + 0.05) / (low + 0.05);
  }
  const paper = pixel("paper").join();
  probe.remove();
  return { paper, ratios };
}
