// A sweep: a line and its row are highlighted together, the slider selects the best rows, headings sort.
import assert from "node:assert/strict";

export async function play(page) {
  const chart = page.locator("svg[data-hover=k]"), lines = chart.locator("path[data-k]");
  const place = await lines.first().evaluate((line) => {
    const [a, b] = [line.getPointAtLength(4), line.getPointAtLength(5)];
    const point = new DOMPoint((a.x + b.x) / 2, (a.y + b.y) / 2).matrixTransform(line.getScreenCTM());
    return { x: point.x, y: point.y + scrollY };
  });
  await page.evaluate((y) => scrollTo(0, y - 300), place.y);
  await page.mouse.move(place.x, place.y - (await page.evaluate(() => scrollY)));
  const lit = await chart.locator(".lit").getAttribute("data-k");
  assert.ok(await page.locator(`#rows tr.lit[data-k="${lit}"]`).count());
  assert.match(await page.locator(".tip").innerText(), new RegExp(`^row ${lit}\n`));
  const count = await lines.count();
  await page.locator("#best").fill("3");
  assert.equal(await chart.locator("path[data-k].dim").count(), count - 3);
  assert.equal(await page.locator("#best-count").textContent(), `the best 3 of ${count}`);
  const metric = page.locator("#rows thead th", { hasText: "dev/loss" });
  const at = await metric.evaluate((cell) => cell.cellIndex);
  const column = () => page.locator("#rows tbody tr").evaluateAll((rows, i) => rows.map((row) => row.cells[i].textContent), at);
  for (const [order, sign] of [["ascending", 1], ["descending", -1]]) {
    await metric.locator("button").click();
    assert.equal(await metric.getAttribute("aria-sort"), order);
    const cells = await column(), known = cells.filter((text) => text !== "–").map((text) => Number.parseFloat(text));
    assert.ok(known.every((value, i) => i === 0 || sign * (value - known[i - 1]) >= 0), cells.join());
    assert.ok(cells.slice(known.length).every((text) => text === "–"), "unknown values come last");
  }
}
