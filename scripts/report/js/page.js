// Theme, and what stands under the pointer in a chart: the row of the table behind it.
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function initTheme() {
  const root = document.documentElement, button = $("#theme"), order = ["auto", "light", "dark"];
  const remembered = () => { try { return localStorage.getItem("softalign-theme"); } catch { return null; } };
  const set = (theme) => {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    button.dataset.now = theme;
    try { localStorage.setItem("softalign-theme", theme); } catch { /* a browser that keeps nothing */ }
  };
  set(order.includes(remembered()) ? remembered() : "auto");
  button.addEventListener("click", () => set(order[(order.indexOf(button.dataset.now) + 1) % order.length]));
}

const tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });

function showTip(event, heading, rows) {
  tip.replaceChildren(element("b", {}, heading), ...rows.map(([name, value]) => element("div", {}, element("span", {}, name), element("span", {}, value))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), right = event.clientX + 14 + box.width < innerWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX + 14 : event.clientX - 14 - box.width)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4))}px`;
}

function hideTip() { tip.hidden = true; }

// Charts over updates ("x": the nearest row) and over buckets ("row": the row by its number; the first is "all").
function initCharts() {
  for (const chart of $$("svg[data-hover=x], svg[data-hover=row]")) {
    const [low, high, left, right, top, bottom] = chart.dataset.frame.split(",").map(Number);
    const table = $("table", chart.closest("figure"));
    const names = $$("thead th", table).map((cell) => cell.textContent);
    const rows = $$("tbody tr", table).map((row) => [...row.cells].map((cell) => cell.textContent));
    const places = rows.map((row, at) => (chart.dataset.hover === "x" ? Number(row[0].replaceAll(",", "")) : at - 1));
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect(), width = chart.viewBox.baseVal.width;
      const value = low + (((event.clientX - box.left) / box.width) * width - left) / (right - left) * (high - low);
      let near = 0;
      places.forEach((place, at) => { if (Math.abs(place - value) < Math.abs(places[near] - value)) near = at; });
      const x = left + (places[near] - low) / (high - low) * (right - left);
      for (const [key, at] of [["x1", x], ["x2", x], ["y1", top], ["y2", bottom]]) line.setAttribute(key, at);
      line.setAttribute("class", "cursor");
      chart.append(line);
      const values = names.slice(1).map((name, at) => [name, rows[near][at + 1]]).filter(([, text]) => text !== "–");
      showTip(event, `${names[0]} ${rows[near][0]}`, values);
    });
    chart.addEventListener("pointerleave", () => { line.remove(); hideTip(); });
  }
}

// Words above what is wider than its place, beside the shadow at its edge.
function initScroll() {
  for (const box of $$(".scroll")) {
    const end = box.dataset.end ? `, to ${box.dataset.end}` : "";
    const hint = element("p", { class: "note swipe", hidden: "" }, `goes on to the right${end}: scroll sideways →`);
    box.before(hint);
    const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
    const observer = new ResizeObserver(look);
    for (const each of [box, ...box.children]) observer.observe(each);
  }
}
