// Two runs whose sources are images: each image fits into its pane.
import assert from "node:assert/strict";

export async function play(page) {
  await page.locator("[data-ui=longest]").fill("");
  await page.locator("[data-ui=sort]").selectOption("length");
  await page.locator("[data-ui=order]").click(); // the widest first
  const names = await page.locator("[data-ui=right] option").allTextContents();
  await page.locator("[data-ui=right]").selectOption({ label: names.findLast((name) => name.endsWith("searched")) });
  await page.locator(".sentences li").first().click();
  const pictures = await page.locator(".picture").evaluateAll((all) => all.map((one) => [one.scrollWidth, one.clientWidth]));
  assert.equal(pictures.length, 2);
  for (const [needed, room] of pictures) assert.ok(needed <= room, `a picture of ${needed} pixels in a place of ${room}`);
}
