// The address holds the selections: opening it in another page shows the same state.
import assert from "node:assert/strict";

export async function play(page) {
  const ui = (name) => page.locator(`[data-ui=${name}]`);
  const plain = page.url();
  const names = await ui("left").locator("option").allTextContents();
  await ui("left").selectOption({ label: names.find((name) => /additive, seed 2 · searched/.test(name)) });
  await ui("right").selectOption({ label: names.find((name) => /none, seed 2 · texts/.test(name)) });
  await ui("sort").selectOption("less loss");
  await ui("order").click();
  await ui("shortest").fill("3");
  await page.locator(".sentences li").nth(2).click();
  await page.locator("#curves .legend button").nth(1).click();
  await page.locator("#axis").selectOption("tokens");
  const state = (at) => at.evaluate(() => ({
    titles: [...document.querySelectorAll(".pane h3")].map((one) => one.textContent), sorted: [...document.querySelectorAll(".sentences li")].map((one) => one.textContent),
    sentence: document.querySelector(".sentences [aria-selected=true]").textContent, matrix: document.querySelector(".matrix").innerHTML,
    lines: document.querySelector("#curves .charts .plot").innerHTML,
  }));
  const chosen = await state(page), address = page.url();
  const other = await page.context().newPage();
  await other.goto(address);
  assert.deepEqual(await state(other), chosen);
  // A link within the page keeps the selections; the next selection puts them into the address again.
  await other.locator("nav a[href='#runs']").click();
  assert.match(other.url(), /#runs$/);
  await other.locator("#curves .legend button").nth(1).click();
  assert.match(other.url(), /sentence=\d+/);
  await other.close();
  // A selection that returns to its default disappears from the address.
  const clean = await page.context().newPage();
  await clean.goto(plain);
  await clean.locator("#axis").selectOption("tokens");
  assert.match(clean.url(), /#axis=tokens$/);
  await clean.locator("#axis").selectOption("update");
  assert.equal(clean.url(), plain);
  await clean.close();
}
