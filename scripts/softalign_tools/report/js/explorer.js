// The alignment explorer: lists sentences, and shows the chosen one in one or two runs at a training snapshot.
class Explorer {
  constructor(root, data) {
    Object.assign(this, { root, data, chosen: null, step: null, matrices: [] });
    this.translations = data.translations.map((one) => ({ ...one, kind: "text", module: "", updates: [null], heads: [], target: [one.hypothesis], at: new Map(one.sentence.map((number, at) => [number, at])) }));
    for (const pane of data.panes.filter((each) => each.kind === "searched")) {
      const own = this.translation(pane);
      if (own?.chrf) pane.chrf = pane.sentence.map((number) => own.chrf[own.at.get(number)] ?? null);
    }
    data.panes.push(...this.translations);
    this.ui = Object.fromEntries($$("[data-ui]", root).map((part) => [part.dataset.ui, part]));
    const sets = [...new Set(data.panes.map((pane) => pane.set))];
    this.fill(this.ui.set, sets.map((set) => [set, set.split("|").filter(Boolean).join(", ")]));
    this.ui.set.closest("label").hidden = sets.length < 2;
    this.ui.set.addEventListener("change", () => this.showSet());
    this.ui.left.addEventListener("change", () => this.showPane());
    this.ui.right.addEventListener("change", () => { this.offerOrders(); this.list(); });
    this.ui.head.addEventListener("change", () => this.show());
    this.ui.size.addEventListener("change", () => this.show());
    this.ui.scale.addEventListener("change", () => this.show());
    this.ui.of.addEventListener("change", () => this.show());
    for (const name of ["sort", "shortest", "longest", "word"]) this.ui[name].addEventListener("input", () => this.list());
    this.ui.order.addEventListener("click", () => {
      const up = this.ui.order.getAttribute("aria-pressed") === "true";
      this.ui.order.setAttribute("aria-pressed", String(!up));
      this.ui.order.textContent = up ? "↑ rising" : "↓ falling";
      this.list();
    });
    this.ui.step.addEventListener("input", () => { this.step = Number(this.ui.step.value); this.show(); });
    for (const [name, by] of [["back", -1], ["forward", 1]])
      this.ui[name].addEventListener("click", () => {
        this.ui.step.value = this.bounded(this.step + by);
        this.ui.step.dispatchEvent(new Event("input", { bubbles: true }));
      });
    document.addEventListener("kept", () => {
      const at = this.shown.find((each) => String(this.left.sentence[each]) === Kept.values.get("sentence"));
      if (at !== undefined) this.choose(at);
    });
    this.listen();
    addEventListener("resize", () => { clearTimeout(this.later); this.later = setTimeout(() => this.show(), 150); });
    this.showSet();
  }

  fill(select, options) { select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text))); }
  words(number, pane) { return this.data.texts[number].split(pane.kind === "text" ? " " : "\n"); }
  length(pane, at) { const words = this.words(pane.source[at], pane); return words.length - (words.at(-1) === "</s>" ? 1 : 0); }
  translation(pane) { return this.translations.find((one) => one.run === pane.run && one.set === pane.set); }
  // Returns the index in `pane` of a sentence of the pane `other`; -1 if it is not there.
  place(pane, other, at) {
    if (pane === other) return at;
    const columns = (one) => (["text", "decoder"].includes(one.kind) ? one.kind : "source"), source = (one, i) => (one.images ? one.images.pixels[i] : one.source[i]);
    return pane.sentence.findIndex((s, i) => s === other.sentence[at] && (columns(pane) !== columns(other) || source(pane, i) === source(other, at)));
  }
  bounded(step) { return Math.max(0, Math.min(this.left.updates.length - 1, step)); }
  get left() { return this.data.panes[this.ui.left.value]; }
  get right() { return this.data.panes[this.ui.right.value]; }

  showSet() {
    const found = this.data.panes.map((pane, at) => [pane, at]).filter(([pane]) => pane.set === this.ui.set.value);
    const kinds = { forced: "reference forced", searched: "searched", dev: "reference forced", encoder: "encoder", decoder: "decoder", text: "texts alone" };
    const plain = { forced: "cross", searched: "cross_search", dev: "cross_dev" };
    const several = new Set(this.data.panes.map((pane) => pane.run)).size > 1;
    const layered = new Set(found.filter(([pane]) => /cross_layer\d+$/.test(pane.module)).map(([pane]) => pane.run));
    const joined = new Set(found.filter(([pane]) => pane.module.startsWith("words_")).map(([pane]) => pane.run));
    const part = (pane) => {
      const module = pane.module.replace(/^words_/, "");
      if (module === plain[pane.kind]) return layered.has(pane.run) && pane.kind === "forced" ? "mean of the last layer's heads" : "";
      return module.replace(/^(cross|encoder|decoder)_layer(\d+)$/, "layer $2");
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
    this.offerOrders();
    this.step = this.left.updates.length - 1;
    this.list();
  }

  // Offers the orders of sentences: by values of the left pane, or by differences between the left and the right pane.
  offerOrders() {
    const { left, right } = this, free = left.kind === "searched" || left.kind === "text";
    const scores = [["loss", "loss"], ["accuracy", free ? "free-running accuracy" : "token accuracy"], ["chrf", "chrF2"]].filter(([key]) => left[key]);
    const differences = right && right !== left ? scores.filter(([key]) => right[key]).map(([key, name]) => [`less ${key}`, `${name}, left − right`]) : [];
    const before = this.ui.sort.value;
    this.fill(this.ui.sort, [["number", "number"], ["length", "length"], ...scores, ...(left.entropy ? [["entropy", "entropy"]] : []), ...differences]);
    this.ui.sort.value = [...this.ui.sort.options].some((o) => o.value === before) ? before : "number";
  }

  value(at, key) {
    const pane = this.left;
    if (key === "number") return pane.sentence[at];
    if (key === "length") return this.length(pane, at);
    if (key.startsWith("less ")) {
      const score = key.slice(5), other = this.right[score][this.beside.get(at)] ?? null;
      return pane[score][at] === null || other === null ? null : pane[score][at] - other;
    }
    return (key === "entropy" ? pane.entropy?.at(-1) : pane[key])?.[at] ?? null;
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
    this.beside = new Map(key.startsWith("less ") ? this.shown.map((at) => [at, this.place(this.right, pane, at)]) : []);
    const last = sign > 0 ? Infinity : -Infinity;
    const keys = new Map(this.shown.map((at) => [at, this.value(at, key) ?? last]));
    this.shown.sort((a, b) => sign * (keys.get(a) - keys.get(b)) || pane.sentence[a] - pane.sentence[b]);
    const known = (name, at, digits) => this.value(at, name)?.toFixed(digits) ?? "";
    const named = key.startsWith("less ") || key === "chrf";  // a key without its own column
    this.ui.last.textContent = key.startsWith("less ") ? "difference" : named ? "chrF2" : "entropy";
    this.ui.sentences.replaceChildren(...this.shown.map((at) => {
      const columns = [["number", pane.sentence[at]], ["length", this.length(pane, at)], ["loss", known("loss", at, 2)], ["accuracy", known("accuracy", at, 0)], [this.ui.last.textContent, known(named ? key : "entropy", at, 2)]];
      const words = element("span", { class: "words" }, this.words(pane.images || isNumbered(this.words(pane.source[at], pane)) ? pane.target.at(-1)[at] : pane.source[at], pane).join(" ").replace(/ <\/s>$/, ""));
      const scores = columns.filter(([, value]) => value !== "").map(([name, value]) => `${name} ${value}`).join(", ");
      const row = element("li", { role: "option", id: `sentence-${at}`, "data-at": at, "aria-selected": "false", "aria-description": scores });
      row.append(words, element("span", { class: "numbers", "aria-hidden": "true" }, ...columns.map(([, value]) => element("span", {}, String(value)))));
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
      if (row) this.pick(Number(row.dataset.at));
    });
    list.addEventListener("keydown", (event) => {
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
      if (!moves[event.key] || !this.shown.length) return;
      event.preventDefault();
      const next = Math.max(0, Math.min(this.shown.length - 1, this.shown.indexOf(this.at) + moves[event.key]));
      this.pick(this.shown[next]);
    });
  }

  pick(at) {
    this.choose(at);
    Kept.write("sentence", String(this.chosen));
  }

  // Returns the chosen sentence's matrix in a pane, for one head, at the left pane's update or the last one before it; null if there is none.
  item(pane, head) {
    const at = this.place(pane, this.left, this.at);
    if (at < 0 || pane.kind === "text") return null;
    const u = this.snapshot(pane);
    const source = this.words(pane.source[at], pane), target = this.words(pane.target[u][at], pane);
    const text = pane.weights[u][head][at];
    if (text === null) return null;
    const links = pane.gold?.[at] ?? [];
    const image = pane.images && { ...pane.images, pixels: this.data.texts[pane.images.pixels[at]] };
    return { image, source, target, steps: unpack(text, source.length * target.length), gold: new Map(links.map((link) => [link >> 1, link & 1])) };
  }

  snapshot(pane) {
    const now = this.left.updates[this.step];
    return pane === this.left ? this.step : Math.max(0, pane.updates.length === 1 ? 0 : pane.updates.findLastIndex((update) => update <= now));
  }

  // Returns the mean matrix of the listed sentences, each stretched to the same size.
  average(pane, head) {
    const size = 20, sum = new Float64Array(size * size), bins = [...Array(size).keys()];
    const overlap = (bin, at, count) => Math.max(0, Math.min((bin + 1) / size, (at + 1) / count) - Math.max(bin / size, at / count));
    const covered = (at, count) => bins.slice(Math.floor((at * size) / count), Math.ceil(((at + 1) * size) / count));
    let found = 0;
    for (const shown of this.shown) {
      const at = this.place(pane, this.left, shown), u = this.snapshot(pane), text = pane.kind === "text" || at < 0 ? null : pane.weights[u][head][at];
      if (text === null) continue;
      const rows = this.words(pane.target[u][at], pane).length, columns = this.words(pane.source[at], pane).length, steps = unpack(text, rows * columns);
      for (let t = 0; t < rows; t++) for (let s = 0; s < columns; s++) {
        const weight = steps[t * columns + s];
        if (weight) for (const y of covered(t, rows)) for (const x of covered(s, columns)) sum[y * size + x] += weight * overlap(y, t, rows) * size * overlap(x, s, columns) * columns;
      }
      found++;
    }
    if (!found) return null;
    const labels = bins.map((bin) => `${Math.round((100 * bin) / size)} %`);
    return { source: labels, target: labels, steps: Uint8Array.from(sum, (each) => Math.round(each / found)), gold: new Map(), mean: found };
  }

  // Returns a run's hypothesis for the chosen sentence and the reference; words that only one of them has are marked.
  texts(pane) {
    const own = this.translation(pane), at = own?.at.get(this.chosen);
    if (at === undefined) return [];
    const words = (number) => (number === null ? [] : this.words(number, own)), reference = words(own.reference[at]), hypothesis = words(own.hypothesis[at]);
    const [left, right] = common(reference, hypothesis);
    const marked = (all, kept, name) => all.flatMap((word, i) => [kept.has(i) || !reference.length ? word : element(name, {}, word), " "]);
    const scores = [["loss", own.loss?.[at], 2, ""], ["free-running accuracy", own.accuracy?.[at], 0, " %"], ["chrF2", own.chrf?.[at], 1, ""]].filter(([, value]) => known(value ?? null));
    const line = (name, ...parts) => element("div", { class: name }, element("small", {}, name), ...parts);
    return [element("div", { class: "texts" },
      ...(pane.kind === "text" ? [line("source", this.data.texts[own.source[at]])] : []),
      ...(reference.length ? [line("reference", ...marked(reference, left, "del"))] : []),
      line("hypothesis", ...marked(hypothesis, right, "ins")),
      element("small", {}, scores.map(([name, value, digits, unit]) => `${name} ${value.toFixed(digits)}${unit}`).join(" · ")))];
  }

  show() {
    const panes = [this.left, this.right].filter(Boolean);
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
    this.mean = this.ui.of.value === "all";
    const shown = panes.flatMap((pane) => (this.all && pane.heads.length ? pane.heads.map((_, at) => [pane, at]) : [[pane, Math.max(0, pane.heads.indexOf(one))]]));
    this.ui.panes.replaceChildren(...shown.map(([pane, head]) => this.pane(pane, head, shown.length)));
    $(".readout", this.root).textContent = this.at === undefined ? "No sentence fits the filters." : "";
    if (focused) this.matrices[0]?.element.focus();
    const [row, column] = this.cursor ?? [0, this.matrices[0]?.strongest(0) ?? 0];
    this.move(row, column);
  }

  pane(pane, head, count) {
    const name = pane.heads.length > 1 ? `${pane.name} · head ${pane.heads[head]}` : pane.name;
    const box = element("div", { class: "pane", "data-source": "text" }, element("h3", {}, name));
    const item = this.at === undefined ? null : this.mean ? this.average(pane, head) : this.item(pane, head), texts = this.at === undefined || this.mean ? [] : this.texts(pane);
    if (!item) {
      box.append(...(pane.kind === "text" && texts.length ? [] : [element("p", { class: "note" }, this.at === undefined ? "–" : "This page has no matrix of this sentence.")]), ...texts);
      return box;
    }
    if (item.mean) box.append(element("p", { class: "note" }, `The mean of ${item.mean} sentences, by the place in source and target.`));
    const all = this.ui.panes.clientWidth, wide = count > 1 && all > 656 ? (all - 16) / 2 : all;
    const matrix = new Matrix({ ...item, name, rows: pane.kind === "encoder" ? "source" : "target" }, wide - 30, { size: this.ui.size.value, scale: this.ui.scale.value }, (row, column) => { this.cursor = [row, column]; this.move(row, column); });
    matrix.reading = element("div", { class: "reading" });
    Object.assign(box, { matrix });
    box.dataset.sentence = this.mean ? "mean" : `sentence ${this.chosen}`;
    box.prepend(menuButton(box, name));
    this.matrices.push(matrix);
    const table = element("details", { class: "data" }, element("summary", {}, `Table: ${name}`));
    table.addEventListener("toggle", () => { if (table.open && table.children.length === 1) table.append(matrix.table()); });
    box.append(matrix.element, ...(this.mean || (this.all && !matrix.image) ? [] : [matrix.reading]), ...(this.all && head ? [] : texts), table);
    return box;
  }

  move(row, column) {
    const texts = this.matrices.map((matrix) => matrix.mark(row, column));
    this.matrices.forEach((matrix) => this.read(matrix));
    if (texts.some(Boolean)) $(".readout", this.root).textContent = texts.map((text, at) => (texts.length > 1 ? `${this.caption(at)}: ${text || "no such cell"}. ` : text)).join("");
  }

  caption(at) { return this.all ? this.matrices[at].name.split(" · ").slice(-2).join(" · ") : ["Left", "Right"][at]; }

  // Shows the sentence as text, with its source words (or its image) shaded by the weights of the chosen target word.
  read(matrix) {
    const line = (label, words, name = label) => element("div", { class: label }, element("small", {}, name), ...words.flatMap((word) => [word, " "]));
    const source = matrix.image || isNumbered(matrix.source) ? [] : matrix.source.map((word, s) => {
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
    matrix.reading.replaceChildren(...(picture ? [picture] : source.length ? [line("source", source)] : []), line("target", target, matrix.rows));
  }
}

// True if source positions, such as frames, have numbers instead of words.
const isNumbered = (words) => words.every((word, at) => word === `#${at}`);

// Returns the longest common subsequence of two lists of words, as the indices of its words in each list.
function common(a, b) {
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
    longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const places = [new Set(), new Set()];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { places[0].add(i++); places[1].add(j++); }
    else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
    else j++;
  }
  return places;
}

function initExplorer() {
  const root = $("#explorer"), text = $("#alignment-data");
  if (root && text) new Explorer(root, JSON.parse(text.textContent));
}

document.body.append(tip, spoken);
for (const part of $$(".script")) part.hidden = false;
Kept.read();
for (const init of [initTheme, initCharts, initMenus, initScroll, initRows, initParallel, initHeatmaps, initExplorer, initPrint, initLinks, initKept]) init();
