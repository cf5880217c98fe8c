// axe-core reports no violations on a page with all folded parts opened.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

export async function play(page) {
  await page.evaluate(await readFile(process.env.AXE, "utf8"));
  for (const unfolded of [false, true]) {
    if (unfolded) await page.evaluate(() => { for (const part of document.querySelectorAll("details")) part.open = true; });
    await page.waitForTimeout(300);
    const found = await page.evaluate(async () => {
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      const { violations } = await window.axe.run(document, { runOnly: { type: "tag", values: tags }, rules: { "label-content-name-mismatch": { enabled: true } } });
      return violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 200)} (${node.failureSummary})`).slice(0, 3).join("; ")}`);
    });
    assert.deepEqual(found, []);
  }
}
