// The alignment explorer: which sentence of which runs, in which order, at which snapshot.
class Explorer {
  constructor(root, data) {
    Object.assign(this, { root, data, chosen: null, step: null, matrices: [] });
    this.ui = Object.fromEntries($$("[data-ui]", root).map((part) => [part.dataset.ui, part]));
    const sets = [...new Set(data.panes.map((pane) => pane.set))];
    this.fill(this.ui.set, sets.map((set) => [set, set.split("|").filter(Boolean).join(", ")]));
    this.ui.set.closest("label").hidden = sets.length < 2;
    this.ui.set.addEventListener("change", () => this.showSet());
    this.ui.left.addEventListener("change", () => this.showPane());
    this.ui.right.addEventListener("change", () => this.show());
    this.ui.head.addEventListener("change", () => this.show());
    this.ui.size.addEventListener("change", () => this.show());
    this.ui.scale.addEventListener("change", () => this.show());
    for (const name of ["sort", "shortest", "longest", "word"]) this.ui[name].addEventListener("input", () => this.list());
    this.ui.order.addEventListener("click", () => {
      const up = this.ui.order.getAttribute("aria-pressed") === "true";
      this.ui.order.setAttribute("aria-pressed", String(!up));
      this.ui.order.textContent = up ? "↑ rising" : "↓ falling";
      this.list();
    });
    this.ui.step.addEventListener("input", () => { this.step = Number(this.ui.step.value); this.show(); });
    for (const [name, by] of [["back", -1], ["forward", 1]])
      this.ui[name].addEventListener("click", () => { this.step = this.bounded(this.step + by); this.show(); });
    this.listen();
    addEventListener("resize", () => { clearTimeout(this.later); this.later = setTimeout(() => this.show(), 150); });
    this.showSet();
  }

  fill(select, options) { select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text))); }
  words(number) { return this.data.texts[number].split("\n"); }
  length(pane, at) { const words = this.words(pane.source[at]); return words.length - (words.at(-1) === "</s>" ? 1 : 0); }
  // What a pane's sentence is of: its source, for people and for finding it again.
  identity(pane, at) { return pane.images ? pane.images.pixels[at] : pane.source[at]; }
  bounded(step) { return Math.max(0, Math.min(this.left.updates.length - 1, step)); }
  get left() { return this.data.panes[this.ui.left.value]; }

  showSet() {
    const found = this.data.panes.map((pane, at) => [pane, at]).filter(([pane]) => pane.set === this.ui.set.value);
    const kinds = { forced: "reference forced", searched: "searched", dev: "reference forced", encoder: "encoder" };
    const plain = { forced: "cross", searched: "cross_search", dev: "cross_dev" };
    const several = new Set(this.data.panes.map((pane) => pane.run)).size > 1;
    const layered = new Set(found.filter(([pane]) => /cross_layer\d+$/.test(pane.module)).map(([pane]) => pane.run));
    const joined = new Set(found.filter(([pane]) => pane.module.startsWith("words_")).map(([pane]) => pane.run));
    const part = (pane) => {
      const module = pane.module.replace(/^words_/, "");
      if (module === plain[pane.kind]) return layered.has(pane.run) && pane.kind === "forced" ? "mean of the last layer's heads" : "";
      return module.replace(/^(cross|encoder)_layer(\d+)$/, "layer $2");
    };
    const unit = (pane) => joined.has(pane.run) ? (pane.module.startsWith("words_") ? "words" : "symbols") : "";
    const name = (pane) => [several ? pane.run : "", kinds[pane.kind], part(pane), unit(pane)].filter(Boolean).join(" · ");
    for (const [pane] of found) pane.name = name(pane);
    const options = found.map(([pane, at]) => [String(at), pane.name]);
    this.fill(this.ui.left, options);
    this.fill(this.ui.right, [["", "nothing"], ...options]);
    this.ui.right.closest("label").hidden = options.length < 2;
    this.showPane();
  }

  showPane() {
    const orders = [["number", "number"], ["length", "length"], ["loss", "loss"], ["accuracy", this.left.kind === "searched" ? "free-running accuracy" : "token accuracy"], ["entropy", "entropy"]];
    const before = this.ui.sort.value;
    this.fill(this.ui.sort, orders.filter(([key]) => ["number", "length", "entropy"].includes(key) || this.left[key]));
    this.ui.sort.value = [...this.ui.sort.options].some((o) => o.value === before) ? before : "number";
    this.step = this.left.updates.length - 1;
    this.list();
  }

  value(at, key) {
    const pane = this.left;
    if (key === "number") return pane.sentence[at];
    if (key === "length") return this.length(pane, at);
    return (key === "entropy" ? pane.entropy.at(-1) : pane[key])[at];
  }

  list() {
    const pane = this.left, key = this.ui.sort.value, sign = this.ui.order.getAttribute("aria-pressed") === "true" ? -1 : 1;
    const shortest = Number(this.ui.shortest.value || 0), longest = Number(this.ui.longest.value || Infinity);
    const word = this.ui.word.value.trim().toLowerCase();
    const has = (text) => this.data.texts[text].toLowerCase().split("\n").some((each) => each.includes(word));
    const fits = (at) => {
      const length = this.length(pane, at);
      return length >= shortest && length <= longest && (!word || has(pane.source[at]) || has(pane.target.at(-1)[at]));
    };
    this.shown = pane.sentence.map((_, at) => at).filter(fits);
    const last = sign > 0 ? Infinity : -Infinity;
    const keys = new Map(this.shown.map((at) => [at, this.value(at, key) ?? last]));
    this.shown.sort((a, b) => sign * (keys.get(a) - keys.get(b)) || pane.sentence[a] - pane.sentence[b]);
    const known = (name, at, digits) => (pane[name]?.[at] ?? null) === null ? "" : pane[name][at].toFixed(digits);
    this.ui.sentences.replaceChildren(...this.shown.map((at) => {
      const entropy = pane.entropy.at(-1)[at];
      const columns = [["number", pane.sentence[at]], ["length", this.length(pane, at)], ["loss", known("loss", at, 2)], ["accuracy", known("accuracy", at, 0)], ["entropy", entropy === null ? "" : entropy.toFixed(2)]];
      const words = element("span", { class: "words" }, this.words(pane.images ? pane.target.at(-1)[at] : pane.source[at]).join(" ").replace(/ <\/s>$/, ""));
      const label = columns.filter(([, value]) => value !== "").map(([name, value]) => `${name} ${value}`).join(", ");
      const row = element("li", { role: "option", id: `sentence-${at}`, "data-at": at, "aria-selected": "false", "aria-label": `${label}: ${words.textContent}` });
      row.append(words, element("span", { class: "numbers" }, ...columns.map(([, value]) => element("span", {}, String(value)))));
      return row;
    }));
    this.ui.count.textContent = `${this.shown.length} of ${pane.sentence.length} sentences`;
    const again = this.shown.find((at) => pane.sentence[at] === this.chosen);
    this.choose(again ?? this.shown[0]);
  }

  choose(at) {
    const before = $("[aria-selected=true]", this.ui.sentences), now = at === undefined ? null : $(`#sentence-${at}`);
    before?.setAttribute("aria-selected", "false");
    now?.setAttribute("aria-selected", "true");
    this.at = at;
    if (now) {
      this.chosen = this.left.sentence[at];
      this.ui.sentences.setAttribute("aria-activedescendant", now.id);
      const list = this.ui.sentences, top = now.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + now.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 40;
    } else this.ui.sentences.removeAttribute("aria-activedescendant");
    this.cursor = null;
    this.show();
  }

  listen() {
    const list = this.ui.sentences;
    list.addEventListener("click", (event) => {
      const row = event.target.closest("li");
      if (row) this.choose(Number(row.dataset.at));
    });
    list.addEventListener("keydown", (event) => {
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
      if (!moves[event.key] || !this.shown.length) return;
      event.preventDefault();
      const next = Math.max(0, Math.min(this.shown.length - 1, this.shown.indexOf(this.at) + moves[event.key]));
      this.choose(this.shown[next]);
    });
  }

  // The chosen sentence in a pane, of one of its heads: at the left pane's update, or the last one before it.
  item(pane, head) {
    const at = pane === this.left ? this.at : pane.sentence.findIndex((s, i) => s === this.chosen && this.identity(pane, i) === this.identity(this.left, this.at));
    if (at < 0 || at === undefined) return null;
    const now = this.left.updates[this.step];
    const u = pane === this.left ? this.step : Math.max(0, pane.updates.length === 1 ? 0 : pane.updates.findLastIndex((update) => update <= now));
    const source = this.words(pane.source[at]), target = this.words(pane.target[u][at]);
    const text = pane.weights[u][head][at];
    if (text === null) return null;
    const links = pane.gold?.[at] ?? [];
    const image = pane.images && { ...pane.images, pixels: this.data.texts[pane.images.pixels[at]] };
    return { image, source, target, steps: unpack(text, source.length * target.length), gold: new Map(links.map((link) => [link >> 1, link & 1])) };
  }

  show() {
    const panes = [this.left, this.data.panes[this.ui.right.value]].filter(Boolean);
    const heads = [...new Set(panes.flatMap((pane) => pane.heads))];
    const heading = [...heads, ...(heads.length > 1 ? ["all"] : [])];
    if (this.ui.head.options.length !== heading.length) this.fill(this.ui.head, heading.map((head) => [head, String(head)]));
    this.ui.head.closest("label").hidden = heads.length < 2;
    const updates = this.left.updates;
    this.ui.snapshots.hidden = updates.length < 2;
    Object.assign(this.ui.step, { max: updates.length - 1, value: this.step });
    this.ui.now.textContent = `update ${updates[this.step]} (${this.step + 1} of ${updates.length})`;
    this.ui.step.setAttribute("aria-valuetext", this.ui.now.textContent);
    this.ui.back.disabled = this.step === 0;
    this.ui.forward.disabled = this.step === updates.length - 1;
    this.ui.full.textContent = this.ui.scale.value === "row" ? "the strongest of its row" : "1";
    const focused = this.ui.panes.contains(document.activeElement);
    this.matrices = [];
    this.all = this.ui.head.value === "all";
    const one = Number(this.ui.head.value || 0);
    const shown = panes.flatMap((pane) => (this.all ? pane.heads.map((_, at) => [pane, at]) : [[pane, Math.max(0, pane.heads.indexOf(one))]]));
    this.ui.panes.replaceChildren(...shown.map(([pane, head]) => this.pane(pane, head, shown.length)));
    $(".readout", this.root).textContent = this.at === undefined ? "No sentence fits the filters." : "";
    if (focused) this.matrices[0]?.element.focus();
    const [row, column] = this.cursor ?? [0, this.matrices[0]?.strongest(0) ?? 0];
    this.move(row, column);
  }

  pane(pane, head, count) {
    const name = pane.heads.length > 1 ? `${pane.name} · head ${pane.heads[head]}` : pane.name;
    const box = element("div", { class: "pane", "data-source": "text" }, element("h3", {}, name));
    const item = this.at === undefined ? null : this.item(pane, head);
    if (!item) {
      box.append(element("p", { class: "note" }, this.at === undefined ? "–" : "No matrix of this sentence is kept here."));
      return box;
    }
    const all = this.ui.panes.clientWidth, wide = count > 1 && all > 656 ? (all - 16) / 2 : all;
    const matrix = new Matrix({ ...item, name, rows: pane.kind === "encoder" ? "source" : "target" }, wide - 30, { size: this.ui.size.value, scale: this.ui.scale.value }, (row, column) => { this.cursor = [row, column]; this.move(row, column); });
    matrix.reading = element("div", { class: "reading" });
    this.matrices.push(matrix);
    const table = element("details", { class: "data" }, element("summary", {}, `Table: ${name}`));
    table.addEventListener("toggle", () => { if (table.open && table.children.length === 1) table.append(matrix.table()); });
    box.append(matrix.element, ...(this.all && !matrix.image ? [] : [matrix.reading]), table);
    return box;
  }

  move(row, column) {
    const texts = this.matrices.map((matrix) => matrix.mark(row, column));
    this.matrices.forEach((matrix) => this.read(matrix));
    if (texts.some(Boolean)) $(".readout", this.root).textContent = texts.map((text, at) => (texts.length > 1 ? `${this.place(at)}: ${text || "no such cell"}. ` : text)).join("");
  }

  place(at) { return this.all ? this.matrices[at].name.split(" · ").slice(-2).join(" · ") : ["Left", "Right"][at]; }

  // The sentence as text: source words shaded by how much the chosen target word looks at them; or its image, shaded so.
  read(matrix) {
    const line = (label, words, name = label) => element("div", { class: label }, element("small", {}, name), ...words.flatMap((word) => [word, " "]));
    const source = matrix.image ? [] : matrix.source.map((word, s) => {
      const part = element("span", s === matrix.column ? { class: "on" } : {}, word);
      part.style.background = `color-mix(in srgb, var(--heat) ${Math.round(55 * matrix.weight(matrix.row, s))}%, transparent)`;
      return part;
    });
    const target = matrix.target.map((word, t) => {
      const part = element("span", t === matrix.row ? { class: "on" } : {}, word);
      part.addEventListener("click", () => { this.cursor = [t, matrix.strongest(t)]; this.move(...this.cursor); });
      return part;
    });
    const picture = matrix.image && drawPicture(matrix, (column) => { this.cursor = [matrix.row, column]; this.move(...this.cursor); });
    matrix.reading.replaceChildren(picture ?? line("source", source), line("target", target, matrix.rows));
  }
}

function initExplorer() {
  const root = $("#explorer"), text = $("#alignment-data");
  if (root && text) new Explorer(root, JSON.parse(text.textContent));
}

document.body.append(tip);
initTheme();
initCharts();
initScroll();
initSorting();
initParallel();
initHeatmaps();
initExplorer();
