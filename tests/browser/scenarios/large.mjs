// A page with many sentences: returns the time to open it, and checks that its explorer responds.
import assert from "node:assert/strict";

export async function play(page, { milliseconds }) {
  const sentences = await page.locator(".sentences li").count();
  assert.ok((await page.locator(".matrix .weight").count()) > 0);
  const before = performance.now();
  await page.locator("[data-ui=sort]").selectOption("entropy");
  await page.locator("[data-ui=longest]").fill("10");
  assert.ok((await page.locator(".sentences li").count()) < sentences);
  return { milliseconds, sentences, filtering: performance.now() - before };
}
