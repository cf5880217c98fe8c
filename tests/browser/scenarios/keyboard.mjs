// Tab alone reaches everything: the skip link comes first, every stop has a name and a visible focus, and the end is reached.
import assert from "node:assert/strict";

export async function play(page) {
  await page.locator("[data-ui=set]").selectOption({ label: "dev" });  // the set with snapshots to step through
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  const link = await page.locator(".skip").boundingBox();
  assert.ok(link.x >= 0 && link.y >= 0, "the skip link is seen when it has the focus");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  const stops = [];
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(look);
    if (!stop) break;
    stops.push(stop);
  }
  assert.ok(stops.length < 400, "the end of the page is reached");
  for (const stop of stops) assert.ok(stop.name && stop.outlined, JSON.stringify(stop));
  for (const needed of ["listbox", "application", "range", "search", "summary", "select-one"])
    assert.ok(stops.some((stop) => stop.kind === needed), `${needed} can be reached: ${[...new Set(stops.map((s) => s.kind))]}`);
}

function look() {
  const at = document.activeElement;
  if (at === document.body || at === document.documentElement) return null;
  const name = at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent;
  const style = getComputedStyle(at);
  return { kind: at.getAttribute("role") ?? at.type ?? at.localName, name: name.trim().slice(0, 40), outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
}
