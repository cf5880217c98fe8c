// Measures the time until the page is drawn and its controls respond.
import assert from "node:assert/strict";

export async function play(page) {
  const milliseconds = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
  assert.ok(await page.locator("#curves figure svg").first().isVisible());
  return { milliseconds, rows: await page.locator("#rows tbody tr").count() };
}
