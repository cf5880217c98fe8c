// Returns the weights and gold links that the explorer shows for the sharpest sentence of five words or more; the test compares them with the record.
export async function play(page) {
  await page.locator("[data-ui=sort]").selectOption("entropy");
  await page.locator("[data-ui=shortest]").fill("5");
  await page.locator(".sentences li").first().click();
  await page.locator(".pane details summary").click();
  await page.locator(".pane details tbody td").first().waitFor(); // the table is created on demand
  const rows = await page.locator(".pane details tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].slice(1).map((cell) => Number(cell.textContent))));
  const places = await page.locator(".matrix").evaluate((matrix) => {
    const frame = matrix.querySelector(".frame"), cell = Number(matrix.querySelector(".at").getAttribute("width"));
    const place = (rect) => ["y", "x"].map((axis) => Math.round((rect.getAttribute(axis) - frame.getAttribute(axis) - 1) / cell));
    return [...matrix.querySelectorAll(".gold")].map(place);
  });
  const chosen = await page.locator(".sentences [aria-selected=true] .numbers span").first().textContent();
  return { sentence: Number(chosen), rows, places };
}
