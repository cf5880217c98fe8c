// Sentences are sorted by the advantage of one model over another, and words in which hypothesis and reference differ are marked.
import assert from "node:assert/strict";

export async function play(page) {
  const ui = (name) => page.locator(`[data-ui=${name}]`);
  const names = await ui("left").locator("option").allTextContents();
  const label = (pattern) => ({ label: names.find((name) => pattern.test(name)) });
  await ui("left").selectOption(label(/additive, seed 1 · texts/));
  const count = await page.locator(".sentences li").count();
  assert.ok(!(await ui("sort").locator("option").allTextContents()).some((name) => name.includes("left − right")), "nothing is beside it");
  await ui("right").selectOption(label(/none, seed 1 · texts/));
  const score = async (pane, name) => Number((await page.locator(".pane").nth(pane).locator(".texts > small").textContent()).match(new RegExp(`${name} ([\\d.]+)`))[1]);
  for (const [key, name, error] of [["less loss", "loss", 0.02], ["less chrf", "chrF2", 0.2]]) {
    await ui("sort").selectOption(key);
    const shown = await page.locator(".sentences .numbers span:nth-child(5)").allTextContents();
    const values = shown.map(Number);
    assert.ok(values.length === count && values.every((value, at) => at === 0 || values[at - 1] <= value), shown.join());
    assert.ok(values[0] < values.at(-1), "they differ");
    for (const at of [0, count - 1]) {
      await page.locator(".sentences li").nth(at).click();
      assert.ok(Math.abs((await score(0, name)) - (await score(1, name)) - values[at]) <= error, `${name} of sentence ${at}`);
    }
  }
  let marked = 0;
  const models = await page.evaluate(() => JSON.parse(document.querySelector("#alignment-data").textContent));
  for (let at = 0; at < 8; at++) {
    await page.locator(".sentences li").nth(at).click();
    for (const pane of [0, 1]) {
      const lines = await page.locator(".pane").nth(pane).locator(".texts > div").evaluateAll((all) => all.map((line) => {
        const copy = line.cloneNode(true), name = copy.querySelector("small").textContent;
        copy.querySelector("small").remove();
        const whole = copy.textContent.trim(), marks = [...copy.querySelectorAll("del, ins")].map((one) => one.remove()).length;
        return { name, whole, marks, common: copy.textContent.trim().split(/\s+/).join(" ") };
      }));
      assert.deepEqual(lines.map((line) => line.name), ["source", "reference", "hypothesis"]);
      assert.ok(lines.every((line) => models.texts.includes(line.whole)), JSON.stringify(lines));
      assert.equal(lines[1].common, lines[2].common, "what is not marked is the same in both");
      assert.equal(lines[1].whole === lines[2].whole, lines[1].marks + lines[2].marks === 0);
      marked += lines[1].marks + lines[2].marks;
    }
  }
  assert.ok(marked > 0);
}
