// Charts: values at the pointer or the keyboard's cursor, series switched by the legend; for curves also zoom and other axes. A curve is
// redrawn from its data in the same way as report/figures.py draws it.
const known = (value) => value !== null && Number.isFinite(value);
const tickText = (value) => (value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e7) ? value.toLocaleString("en", { maximumFractionDigits: 9 }) : value.toExponential());

// Maps values low..high to pixels start..end.
class Scale {
  constructor(low, high, start, end, log = false) { Object.assign(this, { low, high, start, end, log, of: log ? Math.log10 : (value) => value }); }

  share(value) {
    const [low, high] = [this.of(this.low), this.of(this.high)];
    return high > low ? (this.of(value) - low) / (high - low) : 0.5;
  }

  pixel(value) { return Math.round(100 * (this.start + this.share(value) * (this.end - this.start))) / 100; }
  value(pixel) { return this.low + ((pixel - this.start) / (this.end - this.start)) * (this.high - this.low); }  // linear scales only

  ticks(count) {
    if (this.log) {
      const decades = [];
      for (let d = Math.floor(Math.log10(this.low)); d <= Math.ceil(Math.log10(this.high)); d++) decades.push(d);
      for (const steps of [[1, 2, 5], [1, 3], [1]]) {
        const found = decades.flatMap((d) => steps.map((step) => Number(`${step}e${d}`))).filter((value) => value >= this.low && value <= this.high);
        if (found.length > count + 3 && steps.length > 1) continue;
        return found.length > 1 ? found : new Scale(this.low, this.high, this.start, this.end).ticks(count);
      }
    }
    const span = this.high - this.low;
    if (!(span > 0)) return [this.low];
    const power = 10 ** Math.floor(Math.log10(span / count)), step = power * [1, 2, 5, 10].find((s) => s * power >= (span / count) * 0.999);
    const ticks = [];
    for (let i = Math.ceil(this.low / step - 1e-9); i * step <= this.high + 1e-9 * step; i++) ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
  }

  // Returns a scale around the values, with a little room. zero: from 0 unless a value is below; log: logarithmic if all values are above 0.
  static fitted(values, start, end, zero, log) {
    let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
    if (log && low > 0) return new Scale(low / 1.1, high * 1.1, start, end, true);
    if (zero && low >= 0) low = 0;
    const room = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    return new Scale(zero && low === 0 ? 0 : low - room, high + room, start, end);
  }
}

const AXES = { tokens: "target tokens", seconds: "seconds of training" };

class Chart {
  static all = new Map();  // svg -> Chart, created on first use
  static of(svg) {
    if (!Chart.all.has(svg)) Chart.all.set(svg, new Chart(svg));
    return Chart.all.get(svg);
  }

  constructor(svg) {
    const figure = svg.closest("figure"), table = $("table", figure), text = $(".chart-data", figure);
    const [low, high, left, right, top, bottom] = svg.dataset.frame.split(",").map(Number);
    Object.assign(this, { svg, figure, left, right, top, bottom, data: text && JSON.parse(text.textContent), zoom: null, at: null });
    this.names = $$("thead th", table).map((cell) => cell.textContent);
    this.rows = $$("tbody tr", table).map((row) => [...row.cells].map((cell) => cell.textContent));
    this.looks = $$(".legend li", svg.closest(".charts")).map((item) => [$("span", item).textContent, item.dataset.look]);
    this.cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    this.cursor.setAttribute("class", "cursor");
    this.log = this.data?.log ?? false;
    this.title = $("figcaption", figure).firstChild;
    this.plain = this.title.textContent.replace(/, log axis$/, "");
    if (this.data) this.rowOf = new Map(this.rows.map((row, at) => [Number(row[0].replaceAll(",", "")), at]));
    this.x = new Scale(low, high, left, right);
    this.refresh();
  }

  get axis() { return this.data?.along === "update" && $("#axis") ? $("#axis").value : "update"; }
  hidden(name) { return this.looks.some(([label, look]) => label === name && Chart.off(this.svg.closest(".charts"), look)); }
  static off(block, look) { return $(`.legend li[data-look="${look}"] button`, block)?.getAttribute("aria-pressed") === "false"; }

  // Returns the position of a line's update on the chosen axis; null if it is not known.
  place(line, update) {
    const clock = this.clock(line), at = clock?.at;
    if (this.axis === "update" || !at) return this.axis === "update" ? update : null;
    if (update < at[0]) return (clock[this.axis][0] * update) / at[0];
    const i = at.findIndex((each) => each >= update);
    if (i < 0) return null;
    if (i === 0 || at[i] === update) return clock[this.axis][i];
    const share = (update - at[i - 1]) / (at[i] - at[i - 1]);
    return clock[this.axis][i - 1] + share * (clock[this.axis][i] - clock[this.axis][i - 1]);
  }

  clock(line) {
    Chart.clocks ??= JSON.parse($("#clocks")?.textContent ?? "{}");
    return Chart.clocks[this.data.panel]?.[line.series];
  }

  // Updates the stops of the pointer and the keys: pixel, heading, and the values there.
  refresh() {
    const show = (name, text) => (text === undefined || text === "–" || this.hidden(name) ? [] : [[name, text]]);
    if (!this.data) {
      this.stops = this.rows.slice(1).map((row, at) => ({ x: this.x.pixel(at), heading: `${this.names[0]} ${row[0]}`, values: () => row.slice(1).flatMap((text, i) => show(this.names[i + 1], text)) }));
      return;
    }
    const lines = this.data.lines.map((line, i) => ({ name: this.names[i + 1], column: i + 1, at: line.at, places: line.at.map((update) => this.place(line, update)) }));
    const shown = lines.filter((line) => !this.hidden(line.name));
    const all = [...new Set(shown.flatMap((line) => line.places))].filter((x) => known(x) && x >= this.x.low && x <= this.x.high).sort((a, b) => a - b);
    const cell = (line, x) => {
      let near = 0;
      line.places.forEach((place, at) => { if (known(place) && Math.abs(place - x) < Math.abs(line.places[near] - x)) near = at; });
      if (this.axis === "update" ? line.places[near] !== x : x > Math.max(...line.places.filter(known)) * 1.001) return undefined;
      return this.rows[this.rowOf.get(line.at[near])]?.[line.column];
    };
    const heading = (x) => (this.axis === "update" ? `${this.names[0]} ${x.toLocaleString("en")}` : `${AXES[this.axis]} ${Number(x.toPrecision(4)).toLocaleString("en")}`);
    this.stops = all.map((x) => ({ x: this.x.pixel(x), heading: heading(x), values: () => shown.flatMap((line) => show(line.name, cell(line, x))) }));
  }

  draw() {
    if (this.data) {
      const { left, right, top, bottom } = this;
      const lines = this.data.lines.filter((line, i) => !this.hidden(this.names[i + 1]));
      const curves = lines.map((line) => {
        const at = (updates) => updates.map((update) => this.place(line, update));
        return { ...line, xs: at(line.at), trendXs: at(line.trend.map(([x]) => x)) };
      });
      const xs = curves.flatMap((line) => line.xs).filter(known);
      const [low, high] = this.zoom ?? (xs.length ? [Math.min(0, ...xs), Math.max(...xs)] : [0, 1]);
      this.x = new Scale(low, high, left, right);
      const inside = (x, y) => known(x) && known(y) && x >= low && x <= high;
      const values = curves.flatMap((line) => line.xs.flatMap((x, i) => [line.mean[i], line.low?.[i], line.high?.[i]].filter((y) => inside(x, y ?? null))));
      const positive = !this.log || values.every((value) => value > 0);
      this.log = this.log && positive;
      const y = Scale.fitted(values, bottom, top, this.data.zero && !this.zoom, this.log);
      const point = (x, value) => (known(x) && known(value) && (!y.log || value > 0) ? `${this.x.pixel(x)},${y.pixel(value)}` : null);
      const path = (points, name, look) => {
        const words = points.map((p, i) => p && `${i > 0 && points[i - 1] ? "L" : "M"}${p}`).filter(Boolean);
        return words.length ? `<path class="${name} ${look}" d="${words.join("")}"/>` : "";
      };
      const pair = (xs, ys) => xs.map((x, i) => point(x, ys[i]));
      const bands = curves.map((line) => (line.low ? path([...pair(line.xs, line.high), ...pair(line.xs, line.low).reverse()].filter(Boolean), "band", line.look) : ""));
      const drawn = curves.map((line) => {
        const points = pair(line.xs, line.mean), marks = line.mark ? points.filter(Boolean).map((p) => `<path class="mark ${line.look}" d="${line.mark}" transform="translate(${p})"/>`) : [];
        return path(points, line.trend.length ? "raw" : "line", line.look) + path(pair(line.trendXs, line.trend.map(([, value]) => value)), "line", line.look) + marks.join("");
      });
      const text = (words, x, y, name) => `<text class="${name}" x="${x}" y="${y}">${escaped(words)}</text>`;
      const grid = y.ticks(5).map((value) => `<line class="grid" x1="${left}" x2="${right}" y1="${y.pixel(value)}" y2="${y.pixel(value)}"/>` + text(tickText(value), left - 5, y.pixel(value) + 3.5, "tick end"));
      const below = this.x.ticks(4).map((value) => {
        const words = tickText(value), x = this.x.pixel(value), wide = x + 3.1 * words.length > right + 9;
        return text(words, wide ? right + 9 : x, bottom + 15, wide ? "tick end" : "tick mid");
      });
      $(".axes", this.svg).innerHTML = grid.join("") + below.join("") + text(this.axis === "update" ? this.data.axis : AXES[this.axis], (left + right) / 2, bottom + 31, "axis mid");
      $(".plot", this.svg).innerHTML = bands.join("") + drawn.join("");
      this.title.textContent = this.plain + (this.log ? ", log axis" : "");
    } else {
      for (const [, look] of this.looks) for (const part of $$(look.split(" ").map((each) => `.${each}`).join(""), this.svg)) part.toggleAttribute("hidden", Chart.off(this.svg.closest(".charts"), look));
    }
    this.refresh();
    this.leave();
  }

  zoomTo(range) {
    const [low, high] = range ?? [];
    this.zoom = range && high > low ? range : null;
    this.draw();
  }

  // Zooms to half of the visible range, around the cursor.
  zoomIn() {
    const middle = this.at === null ? (this.x.low + this.x.high) / 2 : this.x.value(this.stops[this.at].x), quarter = (this.x.high - this.x.low) / 4;
    const low = Math.max(this.x.low, Math.min(middle - quarter, this.x.high - 2 * quarter));
    if (this.stops.length > 3) this.zoomTo([low, low + 2 * quarter]);
  }

  toggleLog() {
    this.log = !this.log;
    this.draw();
  }

  pixel(event) {
    const box = this.svg.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * this.svg.viewBox.baseVal.width;
  }

  // Moves the cursor to a stop and returns its text. (x, y): position of the tooltip.
  show(at, x, y) {
    const stop = this.stops[at];
    if (!stop) return;
    this.at = at;
    for (const [key, value] of [["x1", stop.x], ["x2", stop.x], ["y1", this.top], ["y2", this.bottom]]) this.cursor.setAttribute(key, value);
    this.svg.append(this.cursor);
    const values = stop.values();
    showTip(x, y, stop.heading, values);
    return `${stop.heading}: ${values.map((pair) => pair.join(" ")).join("; ")}`;
  }

  nearest(pixel) { return this.stops.reduce((best, stop, at) => (Math.abs(stop.x - pixel) < Math.abs(this.stops[best].x - pixel) ? at : best), 0); }

  key(key) {
    const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 };
    if (moves[key]) {
      const at = Math.max(0, Math.min(this.stops.length - 1, (this.at ?? (moves[key] > 0 ? -1 : this.stops.length)) + moves[key]));
      const box = this.svg.getBoundingClientRect(), scale = box.width / this.svg.viewBox.baseVal.width;
      say(this.show(at, box.left + (this.stops[at]?.x ?? 0) * scale, box.top + this.top * scale));
    } else if (key === "Escape") this.leave();
    else if (!this.data) return false;
    else if (key === "+") this.zoomIn();
    else if (key === "0") this.zoomTo(null);
    else if (key === "l") this.toggleLog();
    else return false;
    return true;
  }

  leave() {
    this.at = null;
    this.cursor.remove();
    hideTip();
  }
}

function initCharts() {
  for (const svg of $$("svg[data-frame]")) {
    const curve = svg.dataset.hover === "x";
    const hints = `Left and right arrow keys read the values${curve ? ", + zooms in, 0 shows all, L changes to a logarithmic axis and back" : ""}.`;
    for (const [key, value] of Object.entries({ tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-description": hints })) svg.setAttribute(key, value);
    let from = null;  // the pixel at which a drag began
    const brush = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    brush.setAttribute("class", "brush");
    svg.addEventListener("pointerdown", (event) => { if (curve && event.button === 0) from = Chart.of(svg).pixel(event); });
    svg.addEventListener("pointermove", (event) => {
      const chart = Chart.of(svg), now = chart.pixel(event);
      if (from !== null && Math.abs(now - from) > 4) {
        svg.setPointerCapture(event.pointerId);
        const [a, b] = [from, now].map((x) => Math.max(chart.left, Math.min(chart.right, x))).sort((p, q) => p - q);
        for (const [key, value] of Object.entries({ x: a, width: b - a, y: chart.top, height: chart.bottom - chart.top })) brush.setAttribute(key, value);
        svg.append(brush);
      }
      chart.show(chart.nearest(now), event.clientX, event.clientY);
    });
    svg.addEventListener("pointerup", () => {
      if (brush.isConnected) {
        const chart = Chart.of(svg), x = Number(brush.getAttribute("x"));
        chart.zoomTo([chart.x.value(x), chart.x.value(x + Number(brush.getAttribute("width")))]);
      }
      brush.remove();
      from = null;
    });
    svg.addEventListener("pointercancel", () => { brush.remove(); from = null; });
    svg.addEventListener("dblclick", () => { if (curve) Chart.of(svg).zoomTo(null); });
    svg.addEventListener("pointerleave", () => Chart.of(svg).leave());
    svg.addEventListener("blur", () => Chart.of(svg).leave());
    svg.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && Chart.of(svg).key(event.key)) event.preventDefault();
    });
  }
  const draw = (within) => { for (const svg of $$("svg[data-frame]", within)) Chart.of(svg).draw(); };
  $$(".charts").forEach((block, number) => {
    for (const item of $$(".legend li", block)) {
      const button = element("button", { type: "button", "aria-pressed": "true", "data-keep": `series-${number}-${item.dataset.look.replace(" ", "-")}` }, ...item.childNodes);
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
        draw(block);
      });
      item.append(button);
    }
  });
  $("#axis")?.addEventListener("change", () => {
    for (const svg of $$("svg[data-hover=x]")) {
      const chart = Chart.of(svg);
      chart.zoom = null;
      chart.draw();
    }
  });
}
