// The average alignment of the listed sentences: each row is a distribution, and the filters apply.
import assert from "node:assert/strict";

export async function play(page) {
  const ui = (name) => page.locator(`[data-ui=${name}]`);
  await ui("of").selectOption("all");
  const rows = async () => {
    await page.locator(".pane details summary").click();
    await page.locator(".pane details tbody td").first().waitFor(); // the table is created on demand
    return page.locator(".pane details tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].slice(1).map((cell) => Number(cell.textContent))));
  };
  const all = await rows(), count = await page.locator(".sentences li").count();
  assert.match(await page.locator(".pane .note").textContent(), new RegExp(`^The mean of ${count} sentences`));
  for (const row of all) assert.ok(Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1) < 0.05, row.join());
  await ui("longest").fill("4");
  const few = await page.locator(".sentences li").count();
  assert.ok(few < count);
  assert.match(await page.locator(".pane .note").textContent(), new RegExp(`^The mean of ${few} sentences`));
  assert.notDeepEqual(await rows(), all);
  await ui("longest").fill("");
  return { rows: all };
}
