// The rows of a sweep and their lines can be filtered by value; rows link to their runs; the chart responds to the keyboard.
import assert from "node:assert/strict";

export async function play(page) {
  const rows = page.locator("#rows tbody tr"), all = await rows.count();
  const field = (name) => page.getByRole("searchbox", { name: `Only rows with this ${name}`, exact: true });
  const shown = () => rows.evaluateAll((each) => each.filter((row) => row.checkVisibility()).map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
  const lines = () => page.locator("svg[data-hover=k] path[data-k]:not(.dim)").evaluateAll((each) => each.map((line) => line.dataset.k).sort());
  await field("score").fill("dot");
  assert.ok((await shown()).every((cells) => cells[2] === "dot") && (await shown()).length === all / 2);
  assert.deepEqual(await lines(), (await shown()).map((cells) => cells[0]).sort());
  assert.equal(await page.locator("#rows-count").textContent(), `${all / 2} of ${all} rows.`);
  await field("learning_rate").fill(">0.001 <0.03");
  assert.deepEqual([...new Set((await shown()).map((cells) => cells[3]))], ["0.01"]);
  await field("score").fill("!dot");
  assert.deepEqual([...new Set((await shown()).map((cells) => cells[2]))], ["additive"]);
  await field("learning_rate").fill("0.005..1");
  assert.equal((await shown()).length, all / 3);
  assert.match(page.url(), /rows-learning_rate=0\.005\.\.1/);
  await field("score").fill("");
  await field("learning_rate").fill("");
  assert.equal((await shown()).length, all);

  const chart = page.locator("svg[data-hover=k]");
  await chart.focus();
  await page.keyboard.press("ArrowDown");
  const best = await page.locator("#best").getAttribute("data-order").then((order) => order.split(" "));
  assert.equal(await chart.locator(".lit").getAttribute("data-k"), best[0], "the best comes first");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator("#rows tr.lit").getAttribute("data-k"), best[1]);
  assert.match(await page.locator(".visually-hidden[role=status]").textContent(), new RegExp(`^row ${best[1]}: `));

  const link = rows.first().locator("a"), run = await link.getAttribute("href");
  await link.click();
  await page.waitForTimeout(100);
  assert.ok(await page.locator(`${run} pre`).isVisible(), "the run is unfolded");
}
