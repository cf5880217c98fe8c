// The explorer of a run: sorting, filters, snapshots, decodings, links, pointer and keys.
import assert from "node:assert/strict";

export async function play(page) {
  const ui = (name) => page.locator(`[data-ui=${name}]`);
  const column = (at) => page.locator(`.sentences .numbers span:nth-child(${at})`).allTextContents().then((all) => all.map(Number));
  const weights = () => page.locator(".matrix .weight").evaluateAll((all) => all.map((cell) => cell.outerHTML).join());
  const readout = () => page.locator(".readout").textContent();
  const rising = (values) => values.every((value, at) => at === 0 || values[at - 1] <= value);

  const all = await page.locator(".sentences li").count();
  assert.equal(await ui("count").textContent(), `${all} of ${all} sentences`);
  const at = { number: 1, length: 2, loss: 3, accuracy: 4, entropy: 5 };
  for (const key of await ui("sort").locator("option").evaluateAll((options) => options.map((o) => o.value))) {
    await ui("sort").selectOption(key);
    const values = await column(at[key]);
    assert.ok(values.length === all && rising(values), `rising by ${key}: ${values}`);
    await ui("order").click();
    assert.ok(rising((await column(at[key])).reverse()), `falling by ${key}`);
    await ui("order").click();
  }
  await ui("sort").selectOption("number");

  const heights = new Set(await page.locator(".sentences li").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height)));
  assert.equal(heights.size, 1, `rows keep their height when they come into sight: ${[...heights]}`);

  await ui("shortest").fill("4");
  await ui("longest").fill("6");
  const lengths = await column(2);
  assert.ok(lengths.length > 0 && lengths.length < all && lengths.every((n) => n >= 4 && n <= 6), `lengths ${lengths}`);
  await ui("shortest").fill("");
  await ui("longest").fill("");
  const word = (await page.locator(".matrix [data-s='0']").textContent()).trim();
  await ui("word").fill(word);
  const found = await page.locator(".sentences .words").allTextContents();
  assert.ok(found.length > 0 && found.every((text) => text.split(" ").includes(word)), `${word}: ${found}`);
  await ui("word").fill("no such word");
  assert.equal(await page.locator(".sentences li").count(), 0);
  assert.match(await readout(), /No sentence/);
  await ui("word").fill("");

  const strongest = () => page.locator(".matrix .weight").evaluateAll((all) => Math.max(...all.map((cell) => Number(cell.getAttribute("fill-opacity")))));
  const absolute = await strongest(), wide = await page.locator(".matrix svg").boundingBox();
  await ui("scale").selectOption("row");
  assert.equal(await strongest(), 1);
  assert.ok(absolute < 1);
  await ui("scale").selectOption("absolute");
  await ui("size").selectOption("large");
  assert.notEqual((await page.locator(".matrix svg").boundingBox()).width, wide.width);
  await ui("size").selectOption("fit");
  const [svg, box] = [await page.locator(".matrix svg").boundingBox(), await page.locator(".matrix").boundingBox()];
  assert.ok(svg.width <= box.width + 1, "it fits the width");
  await ui("size").selectOption("auto");

  const cell = page.locator(".matrix .at"), before = await readout();
  const gold = page.locator(".matrix .gold.sure");
  assert.ok((await gold.count()) > 1, "gold links are drawn");
  const target = await gold.nth(1).boundingBox();
  await page.mouse.move(target.x + target.width / 2, target.y + target.height / 2);
  assert.match(await readout(), /“.+” looks at “.+”: [01]\.\d{3}, sure link/);
  const hovered = await readout();

  await page.locator(".matrix").focus();
  const [x, y] = [await cell.getAttribute("x"), await cell.getAttribute("y")];
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await cell.getAttribute("y"), y);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.ok(Number(await cell.getAttribute("x")) > 0 && (await readout()) !== hovered);
  await page.keyboard.press("Enter");
  const numbers = page.locator(".pane details table");
  await page.locator(".pane details summary").click();
  await numbers.locator("tbody td").first().waitFor(); // the table is created on demand
  const row = await page.locator(".reading .target span").evaluateAll((all) => all.findIndex((word) => word.className === "on"));
  const line = (await numbers.locator("tbody tr").nth(row).locator("td").allTextContents()).map(Number);
  assert.ok((await readout()).includes(Math.max(...line).toFixed(3)), `the table's row ${row} is the cursor's`);
  const [, weight, most] = (await readout()).match(/: ([\d.]+).*\(([\d.]+)\)/);
  assert.equal(weight, most, "Enter goes to the strongest source word");
  assert.ok(x && before);

  await ui("sentences").focus();
  const first = await page.locator(".sentences [aria-selected=true]").getAttribute("id");
  const drawn = await weights();
  await page.keyboard.press("ArrowDown");
  const second = await page.locator(".sentences [aria-selected=true]").getAttribute("id");
  assert.ok(first !== second && (await weights()) !== drawn);
  assert.equal(await ui("sentences").getAttribute("aria-activedescendant"), second);

  assert.ok(!(await ui("snapshots").isVisible()), "test sentences have one snapshot");
  await ui("set").selectOption({ label: "dev" });
  assert.ok(await ui("snapshots").isVisible());
  const last = await weights(), text = await ui("now").textContent();
  await ui("back").click();
  assert.ok((await ui("now").textContent()) !== text && (await weights()) !== last, "an earlier snapshot is another matrix");
  await ui("step").focus();
  await page.keyboard.press("Home");
  assert.match(await ui("now").textContent(), /^update \d+ \(1 of /);
  assert.ok(await ui("back").isDisabled());
  await page.keyboard.press("End");
  assert.equal(await weights(), last);

  await ui("set").selectOption({ label: "test" });
  const names = await ui("left").locator("option").allTextContents();
  assert.ok(names.some((n) => n.endsWith("reference forced")) && names.some((n) => n.endsWith("searched")), names.join());
  await ui("right").selectOption({ label: names.find((n) => n.endsWith("searched")) });
  assert.equal(await page.locator(".matrix").count(), 2);
}
