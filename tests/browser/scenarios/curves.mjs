// The legend hides series; curves can be zoomed, drawn over tokens or time, and on a logarithmic axis.
import assert from "node:assert/strict";

export async function play(page) {
  const block = page.locator("#curves .charts").first(), figure = block.locator("figure").first(), svg = figure.locator("svg").first();
  const drawn = (name = "line") => svg.locator(`.plot .${name}`).evaluateAll((lines) => lines.map((line) => line.getAttribute("d").replace(/[\d.]+/g, (number) => String(Math.round(number)))));
  const ticks = () => svg.locator(".axes .tick:not(.end)").allTextContents();
  const tip = () => page.locator(".tip").innerText();
  const before = await drawn();
  assert.equal(before.length, 2, "two series");

  // The script draws the same curves as the page without it.
  await svg.focus();
  await page.keyboard.press("0");
  assert.deepEqual(await drawn(), before);
  const names = await block.locator(".legend button").allTextContents();
  await block.locator(".legend button").first().click();
  assert.equal((await drawn()).length, 1);
  await svg.focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(!(await tip()).includes(names[0].trim()) && (await tip()).includes(names[1].trim()), await tip());
  const buckets = page.locator("#lengths .charts").first();
  await buckets.locator(".legend button").first().click();
  const look = await buckets.locator(".legend li").first().getAttribute("data-look");
  const parts = await buckets.locator("figure svg").first().locator(`.${look.replace(" ", ".")}`).evaluateAll((all) => all.map((part) => part.checkVisibility()));
  assert.ok(parts.length > 0 && !parts.includes(true), "also in charts by length");
  await block.locator(".legend button").first().click();
  assert.deepEqual(await drawn(), before);

  // The keyboard: moves from point to point, zooms in and out.
  await svg.focus();
  await page.keyboard.press("End");
  const last = await tip();
  assert.equal(await page.locator(".visually-hidden[role=status]").textContent().then((text) => text.split(":")[0]), last.split("\n")[0], "it is said, too");
  await page.keyboard.press("+");
  assert.notDeepEqual(await drawn(), before);
  assert.ok(!(await ticks()).includes("0"));
  await page.keyboard.press("End");
  assert.equal(await tip(), last, "the end is in what is seen");
  await page.keyboard.press("0");
  assert.deepEqual(await drawn(), before);
  await page.keyboard.press("l");
  const title = () => figure.locator("figcaption").textContent();
  const first = await title();
  await page.keyboard.press("l");
  assert.notEqual(first.includes("log axis"), (await title()).includes("log axis"));
  assert.deepEqual(await drawn(), before);

  // The pointer: a drag zooms, a double click shows all.
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox(), y = box.y + box.height / 3;
  await page.mouse.move(box.x + 0.5 * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.8 * box.width, y, { steps: 5 });
  await page.mouse.up();
  assert.notDeepEqual(await drawn(), before);
  await page.mouse.dblclick(box.x + 0.5 * box.width, y);
  assert.deepEqual(await drawn(), before);

  const ends = {};
  for (const axis of ["tokens", "seconds", "update"]) {
    await page.locator("#axis").selectOption(axis);
    await svg.focus();
    await page.keyboard.press("End");
    ends[axis] = (await tip()).split("\n")[0];
  }
  assert.deepEqual(await drawn(), before);
  return ends;
}
