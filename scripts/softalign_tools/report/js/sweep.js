// True if a cell's text matches a filter: "> 0.01", "0.001..0.01", "dot", "!dot", "=1"; of several, separated by spaces, all must match.
function fits(text, filter) {
  const number = (words) => (words.trim() === "" ? NaN : Number(words.replace(/[,*]/g, "")));
  const value = number(text), low = text.toLowerCase();
  return filter.toLowerCase().replace(/([<>=!])\s+/g, "$1").split(/\s+/).filter(Boolean).every((term) => {
    const [, sign, rest] = term.match(/^(>=|<=|>|<|=|!)?(.*)$/), [from, to] = rest.split("..").map(number), other = number(rest);
    if (!sign && to !== undefined && !Number.isNaN(from) && !Number.isNaN(to)) return value >= from && value <= to;
    if (sign === "!") return !low.includes(rest);
    if (sign === "=") return Number.isNaN(other) ? low === rest : value === other;
    if (sign) return { ">": value > other, "<": value < other, ">=": value >= other, "<=": value <= other }[sign];
    return low.includes(rest);
  });
}

// The table of rows: a heading sorts by its column, numbers by size, unknown ones last; the field below a heading filters.
function initRows() {
  const table = $("#rows");
  if (!table) return;
  const value = (row, at) => {
    const text = row.cells[at].textContent.replace(/[,*]/g, "").trim();
    return text === "–" ? Infinity : text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? (a === b ? 0 : a - b) : String(a).localeCompare(String(b)));
  const headings = $$("thead th", table), rows = $$("tbody tr", table);
  const names = headings.map((heading) => heading.textContent);
  headings.forEach((heading, at) => {
    const button = element("button", { type: "button" }, names[at]);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const known = (row) => value(row, at) !== Infinity;
      rows.sort((a, b) => known(b) - known(a) || (down ? -1 : 1) * compare(value(a, at), value(b, at)) || a.dataset.k - b.dataset.k);
      table.tBodies[0].append(...rows);
    });
  });
  const fields = names.map((name) => element("input", { type: "search", size: 6, "aria-label": `Only rows with this ${name}`, "data-keep": `rows-${name}` }));
  const filter = () => {
    for (const row of rows) row.hidden = !fields.every((field, at) => fits(row.cells[at].textContent.trim(), field.value));
    const count = rows.filter((row) => !row.hidden).length;
    $("#rows-count").textContent = count < rows.length ? `${count} of ${rows.length} rows.` : "";
    document.dispatchEvent(new Event("rows"));
  };
  for (const field of fields) field.addEventListener("input", filter);
  $("thead", table).append(element("tr", { class: "filters" }, ...fields.map((field) => element("td", {}, field))));
}

// Parallel coordinates: a line and its row of the table are highlighted together; lines of rows excluded by the slider or the filter are dimmed.
function initParallel() {
  const chart = $("svg[data-hover=k]");
  if (!chart) return;
  const table = $("#rows");
  const names = $$("thead th", table).map((cell) => cell.textContent);
  const lines = new Map($$("path[data-k]", chart).map((line) => [line.dataset.k, line]));
  const rows = new Map($$("tbody tr", table).map((row) => [row.dataset.k, row]));
  const slider = $("#best"), count = $("#best-count"), order = slider.dataset.order.split(" ");
  const light = (k) => {
    for (const each of [...lines.values(), ...rows.values()]) each.classList.remove("lit");
    lines.get(k)?.classList.add("lit");
    rows.get(k)?.classList.add("lit");
  };
  const show = (k, x, y) => {
    light(k);
    if (k === undefined) return hideTip();
    const cells = [...rows.get(k).cells].map((cell) => cell.textContent.trim()), values = names.slice(1).map((name, at) => [name, cells[at + 1]]);
    showTip(x, y, `row ${k}`, values);
    return `row ${k}: ${values.map((pair) => pair.join(" ")).join("; ")}`;
  };
  const shown = () => [...lines.values()].filter((line) => !line.classList.contains("dim"));
  const leave = () => { light(); hideTip(); };
  chart.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    show(nearestLine(shown(), point), event.clientX, event.clientY);
  });
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("blur", leave);
  for (const [key, value] of Object.entries({ tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-description": "Up and down arrow keys go through the rows, the best first." })) chart.setAttribute(key, value);
  chart.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: -1, ArrowDown: 1, Home: -1e6, End: 1e6 };
    if (event.key === "Escape") leave();
    if (!moves[event.key]) return;
    event.preventDefault();
    const there = new Set(shown().map((line) => line.dataset.k)), best = order.filter((k) => there.has(k));
    const at = Math.max(0, Math.min(best.length - 1, best.indexOf($(".lit", chart)?.dataset.k) + moves[event.key])), box = chart.getBoundingClientRect();
    say(show(best[at], box.left + 20, box.top + 20));
  });
  for (const [k, row] of rows) {
    row.addEventListener("pointerenter", () => light(k));
    row.addEventListener("pointerleave", () => light());
  }
  const dim = () => {
    const best = new Set(order.slice(0, Number(slider.value)));
    for (const [k, line] of lines) line.classList.toggle("dim", !best.has(k) || rows.get(k).hidden);
    count.textContent = best.size < lines.size ? `the best ${best.size} of ${lines.size}` : `all ${lines.size}`;
  };
  slider.addEventListener("input", dim);
  document.addEventListener("rows", dim);
}

// Returns the data-k of the line nearest to the point; undefined if none passes within 8 units.
function nearestLine(lines, point) {
  let found, least = 8;
  for (const line of lines) {
    const corners = line.getAttribute("d").slice(1).split("L").map((pair) => pair.split(",").map(Number));
    for (let i = 1; i < corners.length; i++) {
      const [[x0, y0], [x1, y1]] = [corners[i - 1], corners[i]];
      if (point.x < x0 || point.x > x1) continue;
      const away = Math.abs(y0 + (y1 - y0) * (point.x - x0) / (x1 - x0) - point.y);
      if (away < least) [found, least] = [line.dataset.k, away];
    }
  }
  return found;
}

function initHeatmaps() {
  const choice = $("#heatmap-choice");
  if (!choice) return;
  const maps = $$(".heatmap");
  const show = () => maps.forEach((map, at) => { map.hidden = at !== choice.selectedIndex; });
  choice.addEventListener("change", show);
  show();
}
