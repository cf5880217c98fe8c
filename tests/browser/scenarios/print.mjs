// Every part of the page is printed: as many sheets as if all folded parts had been opened, and no table is cut off.
import assert from "node:assert/strict";

export async function play(page) {
  const sheets = async () => (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  const printed = await sheets();
  await page.emulateMedia({ media: "print" });
  await page.waitForTimeout(200);
  const whole = await sheets();
  assert.ok(Math.abs(printed - whole) <= 1, `${printed} sheets of ${whole}`); // page breaks may differ by a sheet
  await page.setViewportSize({ width: 718, height: 1000 }); // A4 with margins
  const cut = await page.locator("table").evaluateAll((all) => all.filter((one) => one.checkVisibility() && one.scrollWidth > (one.closest("figure, .card, .scroll") ?? one).clientWidth + 1).map((one) => one.closest("figure, .card, section")?.innerText.slice(0, 60)));
  assert.deepEqual(cut, []);
  await page.emulateMedia({ media: "screen" });
}
