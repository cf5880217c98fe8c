// The explorer of a run whose sources are images: the image below the matrix follows the target word, and each of its cells is a column.
import assert from "node:assert/strict";

export async function play(page) {
  const readout = () => page.locator(".readout").textContent();
  const shades = () => page.locator(".picture .weight").evaluateAll((all) => all.map((pixel) => pixel.outerHTML).join());
  await page.locator("#alignments").scrollIntoViewIfNeeded();
  assert.equal(await page.locator(".picture svg").count(), 1);
  assert.equal(await page.locator(".reading .source").count(), 0, "the source is drawn, not written");
  const words = await page.locator(".sentences .words").first().textContent();
  assert.match(words, /^(zero|one|two|three|four|five|six|seven|eight|nine)\b/, "the list tells images by their captions");
  assert.ok((await page.locator(".picture .ink").count()) > 10);
  assert.match(await page.locator(".picture .gold").getAttribute("d"), /^M/, "the digit of the first word is outlined");

  const before = await shades();
  await page.locator(".matrix").focus();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await shades(), before, "another word looks elsewhere");
  assert.equal((await page.locator(".picture .gold").getAttribute("d")) ?? "", "", "“then” is no digit");

  const svg = page.locator(".picture svg"), box = await svg.boundingBox();
  await page.mouse.click(box.x + 2, box.y + 2);
  assert.match(await readout(), /looks at “#0”/, "the first pixel is in the first cell");
  await page.mouse.click(box.x + 2, box.y + box.height - 2);
  assert.match(await readout(), /looks at “#1”/, "the last row's is in the next");
}
