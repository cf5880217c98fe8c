// The explorer of a Transformer's run: layers by name, single heads, and all heads of a layer together.
import assert from "node:assert/strict";

export async function play(page) {
  const ui = (name) => page.locator(`[data-ui=${name}]`);
  const names = await ui("left").locator("option").allTextContents();
  assert.deepEqual(names, ["reference forced · mean of the last layer's heads", "reference forced · layer 1", "reference forced · layer 2", "searched", "encoder · layer 1", "texts alone"]);
  assert.ok(!(await ui("head").isVisible()), "a mean has no heads");
  await ui("left").selectOption({ label: names[2] });
  assert.deepEqual(await ui("head").locator("option").allTextContents(), ["0", "1", "2", "all"]);
  await ui("head").selectOption("1");
  const title = page.locator(".pane h3");
  assert.equal(await title.textContent(), "reference forced · layer 2 · head 1");
  const drawn = () => page.locator(".matrix").evaluateAll((all) => all.map((one) => [...one.querySelectorAll(".weight")].map((cell) => cell.getAttribute("fill-opacity")).join()));
  const [single] = await drawn();
  await ui("head").selectOption("all");
  const all = await drawn();
  assert.ok(all.length === 3 && new Set(all).size === 3 && all.every(Boolean), "three heads, each its own");
  assert.equal((await title.allTextContents())[1], "reference forced · layer 2 · head 1");
  assert.equal(all[1].split(",").length, single.split(",").length);
  assert.match(await page.locator(".readout").textContent(), /layer 2 · head 2: “.+” looks at/);
  await page.locator(".matrix").nth(1).focus();
  const places = () => page.locator(".matrix .at").evaluateAll((cells) => cells.map((cell) => cell.getAttribute("y")));
  const before = await places();
  await page.keyboard.press("ArrowDown");
  const after = await places();
  assert.ok(new Set(after).size === 1 && after[0] !== before[0], "one cursor for all heads");
  await ui("left").selectOption({ label: names[4] });
  assert.deepEqual(await ui("head").locator("option").allTextContents(), ["0", "1", "all"]);
  await ui("head").selectOption("1");
  assert.deepEqual(await title.allTextContents(), ["encoder · layer 1 · head 1"]);
  const [[above, source], [below, attending]] = await page.locator(".reading > div").evaluateAll((all) => all.map((one) => [one.firstChild.textContent, one.querySelectorAll("span").length]));
  assert.deepEqual([above, below, attending], ["source", "source", source], "both sides are the source");
}
