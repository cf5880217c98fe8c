// A heading of the table of rows sorts by its column: numbers by size, unknown ones last.
function initSorting() {
  const table = $("#rows");
  if (!table) return;
  const value = (row, at) => {
    const text = row.cells[at].textContent.replace(/[,*]/g, "").trim();
    return text === "–" ? Infinity : text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? (a === b ? 0 : a - b) : String(a).localeCompare(String(b)));
  $$("thead th", table).forEach((heading, at) => {
    const button = element("button", { type: "button" }, heading.textContent);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of $$("thead th", table)) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = $$("tbody tr", table);
      const known = (row) => value(row, at) !== Infinity;
      rows.sort((a, b) => known(b) - known(a) || (down ? -1 : 1) * compare(value(a, at), value(b, at)) || a.dataset.k - b.dataset.k);
      table.tBodies[0].append(...rows);
    });
  });
}

// Parallel coordinates: a line and its row of the table light up together; a slider keeps the best; one heatmap is shown at a time.
function initParallel() {
  const chart = $("svg[data-hover=k]");
  if (!chart) return;
  const table = $("#rows");
  const names = $$("thead th", table).map((cell) => cell.textContent);
  const lines = new Map($$("path[data-k]", chart).map((line) => [line.dataset.k, line]));
  const rows = new Map($$("tbody tr", table).map((row) => [row.dataset.k, row]));
  const light = (k) => {
    for (const each of [...lines.values(), ...rows.values()]) each.classList.remove("lit");
    lines.get(k)?.classList.add("lit");
    rows.get(k)?.classList.add("lit");
  };
  chart.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    const k = nearestLine([...lines.values()].filter((line) => !line.classList.contains("dim")), point);
    light(k);
    if (k === undefined) return hideTip();
    const cells = [...rows.get(k).cells].map((cell) => cell.textContent.trim());
    showTip(event, `row ${k}`, names.slice(1).map((name, at) => [name, cells[at + 1]]));
  });
  chart.addEventListener("pointerleave", () => { light(); hideTip(); });
  for (const [k, row] of rows) {
    row.addEventListener("pointerenter", () => light(k));
    row.addEventListener("pointerleave", () => light());
  }
  const slider = $("#best"), count = $("#best-count");
  slider?.addEventListener("input", () => {
    const best = slider.dataset.order.split(" ").slice(0, Number(slider.value));
    for (const [k, line] of lines) line.classList.toggle("dim", !best.includes(k));
    count.textContent = `the best ${best.length} of ${lines.size}`;
  });
}

// The data-k of the line that passes within 8 units of the point; undefined where none does.
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
