// One menu for all figures, matrices and tables: saves a picture, copies a table, changes a curve's axis.
const STYLES = ["color", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "display", "vector-effect"];

// Returns a copy of a drawing that needs no style sheet, in the colours of the current theme.
function plainCopy(svg) {
  const copy = svg.cloneNode(true), from = [svg, ...$$("*", svg)], to = [copy, ...$$("*", copy)];
  from.forEach((part, at) => {
    const style = getComputedStyle(part);
    to[at].removeAttribute("class");
    to[at].setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  for (const name of ["tabindex", "role", "aria-roledescription", "aria-description"]) copy.removeAttribute(name);
  const { width, height, x, y } = svg.viewBox.baseVal;
  for (const [key, value] of Object.entries({ viewBox: `${x} ${y} ${width} ${height}`, width, height })) copy.setAttribute(key, value);
  return copy;
}

// Returns the text of an SVG file in the light theme: a title, a legend if there is one, and the drawings below each other.
function picture(title, drawings, legend) {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    const font = getComputedStyle(document.body).fontFamily.replaceAll('"', "'"), pen = element("canvas").getContext("2d");
    pen.font = `12px ${font}`;
    const copies = drawings.map(plainCopy), parts = [];
    const wide = Math.max(200, ...copies.map((copy) => Number(copy.getAttribute("width")))), margin = 10, width = Math.ceil(wide + 2 * margin);
    const text = (words, x, y, weight = 400) => parts.push(`<text x="${x}" y="${y}" style="font:${weight} 12px ${escaped(font)};fill:#1b2127">${escaped(words)}</text>`);
    let y = 20, x = margin;
    for (const line of folded(title, wide, pen)) { text(line, margin, y, 600); y += 16; }
    for (const item of legend) {
      const label = $("span", item).textContent, room = 44 + pen.measureText(label).width;
      if (x > margin && x + room > width) { x = margin; y += 18; }
      const sample = plainCopy($("svg", item));
      for (const [key, value] of Object.entries({ x, y: y - 9 })) sample.setAttribute(key, value);
      parts.push(new XMLSerializer().serializeToString(sample));
      text(label, x + 27, y + 1);
      x += room;
    }
    y += legend.length ? 12 : 0;
    for (const copy of copies) {
      for (const [key, value] of Object.entries({ x: margin, y })) copy.setAttribute(key, value);
      parts.push(new XMLSerializer().serializeToString(copy));
      y += Number(copy.getAttribute("height")) + margin;
    }
    y = Math.ceil(y);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}"><rect width="100%" height="100%" fill="#fff"/>${parts.join("")}</svg>`;
  } finally {
    if (theme) root.dataset.theme = theme;
    else root.removeAttribute("data-theme");
  }
}

// Breaks a text into lines no wider than `width`; a single word may be wider.
function folded(text, width, pen) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (pen.measureText(longer).width * 1.1 > width && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (title) => `${document.title.split(" · ")[0]} ${title}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 100);

async function savePicture(title, text, kind) {
  if (kind === "svg") return download(new Blob([text], { type: "image/svg+xml" }), `${fileName(title)}.svg`);
  const image = new Image(), fine = 4;  // pixels per unit
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas", { width: Math.round(image.width * fine), height: Math.round(image.height * fine) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(blob, `${fileName(title)}.png`), "image/png");
}

const FORMATS = {
  CSV: (rows) => rows.map((row) => row.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n"),
  Markdown: (rows) => {
    const line = (row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    return [line(rows[0]), `| ${rows[0].map((_, at) => (at ? "---:" : "---")).join(" | ")} |`, ...rows.slice(1).map(line)].join("\n");
  },
  LaTeX: (rows) => {
    const signs = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "−": "$-$", "×": "$\\times$", "–": "--", "<": "$<$", ">": "$>$", "≥": "$\\geq$", "≤": "$\\leq$" };
    const cell = (text) => text.replace(/[\\~^±−×–<>≥≤]|[&%$#_{}]/g, (sign) => signs[sign] ?? `\\${sign}`);
    const line = (row) => `  ${row.map(cell).join(" & ")} \\\\`;
    return [`\\begin{tabular}{l${"r".repeat(rows[0].length - 1)}}`, "  \\toprule", line(rows[0]), "  \\midrule", ...rows.slice(1).map(line), "  \\bottomrule", "\\end{tabular}"].join("\n");
  },
};

// Returns the visible rows of a table, as texts.
function cellsOf(table) {
  const text = (cell) => {
    const copy = cell.cloneNode(true);
    for (const part of $$("input, meter", copy)) part.remove();
    for (const part of $$("br", copy)) part.replaceWith("; ");
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  return $$("tr:not(.filters, [hidden])", table).map((row) => [...row.cells].map(text));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // the browser does not allow it for a page from disk
    const area = element("textarea", {}, text);
    $("#menu").append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Returns [text, action] for each entry of a button's menu.
function choicesFor(host) {
  const choices = [], svgs = $$(":scope > svg, :scope > .scroll > svg, :scope > .matrix > svg, :scope > .reading svg", host);
  if (svgs.length) {
    const title = host.matches("figure") ? $("figcaption", host).firstChild.textContent : `${$("h3", host).textContent} ${host.dataset.sentence ?? ""}`;
    const used = (item) => $("button", item)?.getAttribute("aria-pressed") !== "false" && $$("svg", host).some((svg) => $(item.dataset.look.split(" ").map((look) => `.${look}`).join(""), svg));
    const make = () => picture(title, svgs, $$(".legend li", host.closest(".charts") ?? host).filter(used));
    for (const kind of ["svg", "png"]) choices.push([`Save as ${kind.toUpperCase()}`, () => savePicture(title, make(), kind)]);
  }
  const table = host.matrix ? host.matrix.table() : $("table", host);
  if (table) for (const [name, format] of Object.entries(FORMATS)) choices.push([`Copy table as ${name}`, async () => { await copy(`${format(cellsOf(table))}\n`); say(`The table is copied as ${name}.`); }]);
  const curve = $("svg[data-hover=x]", host), chart = curve && Chart.of(curve);
  if (chart) {
    choices.push([chart.log ? "Linear axis" : "Logarithmic axis", () => chart.toggleLog()], ["Zoom in", () => chart.zoomIn()]);
    if (chart.zoom) choices.push(["Show all", () => chart.zoomTo(null)]);
  }
  return choices;
}

function menuButton(host, name) {
  const button = element("button", { type: "button", class: "menu-button", "aria-haspopup": "true", "aria-label": `Save or copy: ${name}` }, "⋯");
  button.addEventListener("click", () => {
    const menu = $("#menu");
    menu.replaceChildren(...choicesFor(host).map(([words, action]) => {
      const choice = element("button", { type: "button" }, words);
      choice.addEventListener("click", async () => {
        await action();
        menu.hidePopover();
      });
      return choice;
    }));
    menu.showPopover();
    const at = button.getBoundingClientRect(), box = menu.getBoundingClientRect();
    menu.style.left = `${Math.max(4, Math.min(at.right - box.width, innerWidth - box.width - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(at.bottom + 4, innerHeight - box.height - 4))}px`;
    $("button", menu)?.focus();
  });
  return button;
}

function initMenus() {
  document.body.append(element("div", { id: "menu", popover: "auto", role: "group", "aria-label": "Save or copy" }));
  for (const figure of $$("figure")) $("figcaption", figure).append(menuButton(figure, $("figcaption", figure).textContent));
  for (const box of $$(".scroll.card")) box.before(element("div", { class: "tools" }, menuButton(box, box.getAttribute("aria-label"))));
}
