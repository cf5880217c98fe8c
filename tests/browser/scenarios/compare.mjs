// Two runs of a study: one sentence, two matrices, one cursor.
import assert from "node:assert/strict";

export async function play(page) {
  const options = await page.locator("[data-ui=right] option").allTextContents();
  const [left] = options.slice(1);
  const right = options.slice(1).find((name) => name !== left && name.endsWith("reference forced"));
  await page.locator("[data-ui=right]").selectOption({ label: right });
  assert.deepEqual(await page.locator(".pane h3").allTextContents(), [left, right]);
  const words = (pane, side) => page.locator(".matrix").nth(pane).locator(`[data-${side}]`).allTextContents();
  for (const side of ["s", "t"]) assert.deepEqual(await words(0, side), await words(1, side));
  const drawn = (pane) => page.locator(".matrix").nth(pane).locator(".weight").evaluateAll((all) => all.map((c) => c.outerHTML).join());
  assert.notEqual(await drawn(0), await drawn(1));
  await page.locator(".matrix").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const cursor = (pane) => page.locator(".matrix").nth(pane).locator(".at").getAttribute("y");
  assert.equal(await cursor(0), await cursor(1));
  assert.match(await page.locator(".readout").textContent(), /^Left: “.+”.* Right: “.+”/);
  await page.locator(".reading .target span").nth(2).click();
  assert.equal(await page.locator(".reading .target").nth(1).locator("span.on").textContent(), (await words(1, "t"))[2]);
}
