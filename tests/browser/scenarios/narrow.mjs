// Exactly the boxes that must be scrolled have a hint; the metric of the rows is visible, and row numbers stay visible while scrolling.
import assert from "node:assert/strict";

export async function play(page) {
  await page.waitForTimeout(200);
  const boxes = await page.locator(".scroll").evaluateAll((all) => all.filter((box) => box.checkVisibility()).map((box) => ({
    name: box.getAttribute("aria-label"),
    wider: box.scrollWidth > box.clientWidth + 1,
    hint: box.previousElementSibling.matches(".swipe") && !box.previousElementSibling.hidden ? box.previousElementSibling.textContent : "",
  })));
  assert.ok(boxes.length >= 3);
  for (const box of boxes) assert.equal(box.hint !== "", box.wider, `${box.name}: ${box.hint}`);
  const width = await page.evaluate(() => innerWidth), parallel = boxes.find((box) => box.name === "dev/loss");
  assert.equal(parallel.wider, width < 400);
  if (parallel.wider) assert.match(parallel.hint, /to dev\/loss: scroll/);
  const rows = page.locator("#rows").locator("..");
  const right = async (selector) => rows.locator(selector).first().evaluate((cell) => cell.getBoundingClientRect().right);
  assert.ok((await right("tbody td")) < width, "the metric is in sight");
  const before = await right("tbody th");
  await rows.evaluate((box) => { box.scrollLeft = 1000; });
  const [after, moved] = [await right("tbody th"), await rows.evaluate((box) => box.scrollLeft)];
  assert.equal(moved > 0, width < 400);
  assert.ok(after > 0 && after <= before, "the row's number stays");
  const closed = page.locator("#sweep figure.wide details.data");
  await closed.locator("summary").click();
  await page.waitForTimeout(200);
  const table = await closed.locator(".scroll").evaluate((box) => [box.scrollWidth > box.clientWidth + 1, !box.previousElementSibling.hidden]);
  assert.equal(table[0], table[1], "also what was folded away");
}
