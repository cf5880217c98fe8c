// The tooltip at the pointer shows a row of the table behind the chart.
import assert from "node:assert/strict";

export async function play(page) {
  for (const section of ["#curves", "#lengths"]) {
    const figure = page.locator(`${section} figure`).first();
    const svg = figure.locator("svg").first();
    await svg.scrollIntoViewIfNeeded();
    const box = await svg.boundingBox();
    const seen = new Set();
    for (const share of [0.2, 0.9]) {
      await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
      const tip = await page.locator(".tip").innerText();
      seen.add(tip);
      const heading = tip.split("\n")[0].replace(/^(update|source length) /, "");
      const rows = await figure.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      const row = rows.find((cells) => cells[0] === heading);
      assert.ok(row, `${heading} is in the table`);
      assert.ok(row.slice(1).filter((cell) => cell !== "–").every((cell) => tip.includes(cell)), tip);
    }
    assert.equal(seen.size, 2, "the place of the pointer decides");
    await page.mouse.move(2, 2);
    assert.ok(!(await page.locator(".tip").isVisible()));
  }
}
