// Figures and tables can be saved: a chart and a matrix as SVG and PNG, a table as CSV, Markdown and LaTeX.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

export async function play(page) {
  const choose = async (host, choice) => {
    await host.locator(".menu-button").first().click();
    await page.locator("#menu").getByRole("button", { name: choice, exact: true }).click();
  };
  const saved = async (host, kind) => {
    const [download] = await Promise.all([page.waitForEvent("download"), choose(host, `Save as ${kind}`)]);
    assert.match(download.suggestedFilename(), new RegExp(`^[\\p{L}\\p{N}-]+\\.${kind.toLowerCase()}$`, "u"));
    return readFile(await download.path());
  };
  const figure = page.locator("#curves figure").first(), pane = page.locator(".pane").first();
  await page.locator("#theme").click();
  await page.locator("#theme").click();  // dark theme: saved figures are light nevertheless
  for (const [host, words] of [[figure, ["dev: loss (nats)", "updates"]], [pane, ["reference forced", "</s>"]]]) {
    const text = (await saved(host, "SVG")).toString();
    const { faults, texts, size, classes, outside, inks } = await page.evaluate((source) => {
      const read = new DOMParser().parseFromString(source, "image/svg+xml"), root = read.documentElement;
      return {
        faults: read.querySelectorAll("parsererror").length, classes: read.querySelectorAll("[class]").length,
        texts: [...read.querySelectorAll("text")].map((one) => one.textContent), size: ["width", "height"].map((key) => Number(root.getAttribute(key))),
        outside: /var\(|url\(|href/.test(source), inks: new Set([...read.querySelectorAll("path, rect")].map((one) => one.style.stroke + one.style.fill)).size,
      };
    }, text);
    assert.equal(faults + classes, 0);
    assert.ok(!outside && inks > 2, "it needs no style sheet and has its colours");
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    for (const word of words) assert.ok(texts.some((each) => each.includes(word)), `${word} in ${texts}`);
    const png = await saved(host, "PNG");
    assert.deepEqual([...png.subarray(1, 4)].map((byte) => String.fromCharCode(byte)).join(""), "PNG");
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], size.map((each) => Math.round(4 * each)));
    const shades = await page.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(bytes)], { type: "image/png" })), canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, 0, image.width, image.height);
      return { corner: [...data.slice(0, 3)], all: new Set(new Uint32Array(data.buffer)).size };
    }, [...png]);
    assert.deepEqual(shades.corner, [255, 255, 255]);
    assert.ok(shades.all > 20, "something is drawn");
  }

  const copied = async (host, format) => {
    await choose(host, `Copy table as ${format}`);
    await page.locator("#menu").waitFor({ state: "hidden" });
    return (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
  };
  const cells = await figure.locator("table tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(await copied(figure, "CSV"), cells.map((row) => row.map((cell) => (cell.includes(",") ? `"${cell}"` : cell)).join(",")));
  const markdown = await copied(figure, "Markdown");
  assert.deepEqual([markdown[0], markdown.length], [`| ${cells[0].join(" | ")} |`, cells.length + 1]);
  assert.match(markdown[1], /^\| --- \|( ---: \|)+$/);
  const latex = await copied(page.locator("#study, #curves figure").first(), "LaTeX");
  assert.match(latex[0], /^\\begin\{tabular\}\{lr+\}$/);
  assert.equal(latex.at(-1), "\\end{tabular}");
  assert.ok(latex.slice(2, -2).every((line) => /^  (\\(top|mid|bottom)rule|.* \\\\)$/.test(line)), latex.join("\n"));
  assert.ok(!/(^|[^\\])[%_#]/.test(latex.join("\n")), "what LaTeX reads as its own is escaped");
}
