// On a phone the first table shows each configuration and the main metric without scrolling.
import assert from "node:assert/strict";

export async function play(page) {
  const table = page.locator("main table").first();
  assert.ok(await table.locator("tbody tr").count() > 1);
  const seen = await table.evaluate((one) => {
    const box = one.closest(".scroll").getBoundingClientRect();
    return [...one.rows].every((row) => [...row.cells].slice(0, 2).every((cell) => { const at = cell.getBoundingClientRect(); return at.left >= box.left && at.right <= Math.min(box.right, innerWidth); }));
  });
  assert.ok(seen);
  return { head: await table.locator("thead th").allTextContents() };
}
