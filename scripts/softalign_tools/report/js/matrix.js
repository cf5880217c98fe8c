// One attention matrix: unpacked, drawn as SVG, with a cursor for pointer and keys.

const LARGEST = 13;  // largest font size of words, in pixels

// Unpacks base64 into weights as steps 0..255, row by row. A byte 0 is followed by the number of zeros.
function unpack(text, size) {
  const bytes = atob(text), steps = new Uint8Array(size);
  for (let i = 0, at = 0; i < bytes.length; i++) {
    const value = bytes.charCodeAt(i);
    if (value) steps[at++] = value;
    else at += bytes.charCodeAt(++i);
  }
  return steps;
}

const cut = (word) => ([...word].length > 16 ? [...word].slice(0, 15).join("") + "…" : word);
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// Draws the image that is the source of a matrix, with the weights of the chosen target word below its ink and its sure links outlined.
// image: height; pixels: a character 0..z each, column by column; position: the matrix's column for each pixel.
function drawPicture(matrix, onPoint) {
  const { height, pixels, position } = matrix.image, width = pixels.length / height;
  const linked = (x, y) => x >= 0 && y >= 0 && x < width && y < height && matrix.gold.get(matrix.row * matrix.source.length + position[x * height + y]) === 1;
  const parts = [], edges = [];
  for (let x = 0; x < width; x++) for (let y = 0; y < height; y++) {
    const column = position[x * height + y], ink = parseInt(pixels[x * height + y], 36) / 35, weight = matrix.weight(matrix.row, column);
    const pixel = (className, opacity) => parts.push(`<rect class="${className}" x="${x}" y="${y}" width="1.02" height="1.02" fill-opacity="${opacity.toFixed(3)}"/>`);
    if (weight) pixel("weight", weight);
    if (ink) pixel("ink", 0.85 * ink);
  }
  for (let x = 0; x <= width; x++) for (let y = 0; y <= height; y++) {
    if (y < height && linked(x, y) !== linked(x - 1, y)) edges.push(`M${x},${y}v1`);
    if (x < width && linked(x, y) !== linked(x, y - 1)) edges.push(`M${x},${y}h1`);
  }
  parts.push(`<path class="gold" d="${edges.join("")}"/><rect class="frame" width="${width}" height="${height}"/>`);
  const scale = Math.max(2, Math.min(12, Math.floor(320 / Math.max(height, width / 2)), Math.floor((matrix.room - 4) / width)));
  const picture = element("div", { class: "picture" });
  picture.innerHTML = `<svg width="${width * scale}" height="${height * scale}" viewBox="0 0 ${width} ${height}" role="img" aria-label="the image; “${escaped(matrix.target[matrix.row])}” looks at what is shaded">${parts.join("")}</svg>`;
  $("svg", picture).addEventListener("pointerdown", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale].map(Math.floor);
    if (x >= 0 && x < width && y >= 0 && y < height) onPoint(position[x * height + y]);
  });
  return picture;
}

class Matrix {
  // item: {source, target: words; rows: the kind of words in `target`; steps; gold: Map index of a cell -> sure; name; image: see drawPicture, optional}; onMove(row, column): called when the cursor moves here.
  // look: size "fit" (to the width, even if words no longer fit), "large" or "auto"; scale "row": weights relative to the strongest of their row.
  constructor(item, width, look, onMove) {
    Object.assign(this, item, { onMove, room: width, row: 0, column: 0, rowwise: look.scale === "row" });
    const pen = element("canvas").getContext("2d");
    pen.font = `${LARGEST}px ${getComputedStyle(document.body).fontFamily}`;
    const long = (words) => Math.max(...words.map((word) => pen.measureText(cut(word)).width));
    this.left = 14 + long(this.target);
    this.top = 16 + 0.87 * long(this.source);  // words slant by 60 degrees
    let slant = 0.5 * long([this.source.at(-1)]) + 10;  // the last slanted word extends beyond the matrix
    const [least, most] = { auto: [12, 30], fit: [2, 30], large: [26, 26] }[look.size];
    const fitting = () => Math.max(least, Math.min(most, Math.floor(2 * (width - this.left - slant) / this.source.length) / 2));
    this.cell = fitting();
    this.wordless = this.cell < 8;
    if (this.wordless) {
      this.left = this.top = slant = 4;
      this.cell = Math.min(8, fitting());
    }
    this.element = element("div", { class: "matrix", tabindex: "0", role: "application", "aria-roledescription": "attention matrix" });
    this.element.setAttribute("aria-label", `${this.name}: ${this.target.length} ${this.rows} words by ${this.source.length} source words. Arrow keys move, Enter goes to the strongest source word.`);
    this.element.innerHTML = this.drawing(slant);
    this.listen();
  }

  drawing(slant) {
    const { source, target, steps, gold, cell, left, top } = this;
    const width = left + source.length * cell + slant, height = top + target.length * cell + 4;
    const font = Math.min(LARGEST, cell), parts = [];
    const full = target.map((_, t) => (this.rowwise ? steps[t * source.length + this.strongest(t)] || 1 : 255));
    for (let at = 0; at < steps.length; at++) {
      if (!steps[at]) continue;
      const x = left + (at % source.length) * cell, y = top + Math.floor(at / source.length) * cell;
      parts.push(`<rect class="weight" x="${x}" y="${y}" width="${cell}" height="${cell}" fill-opacity="${(steps[at] / full[Math.floor(at / source.length)]).toFixed(3)}"/>`);
    }
    const mesh = [];
    for (let s = 1; s < source.length; s++) mesh.push(`M${left + s * cell},${top}v${target.length * cell}`);
    for (let t = 1; t < target.length; t++) mesh.push(`M${left},${top + t * cell}h${source.length * cell}`);
    parts.push(`<path class="mesh" d="${mesh.join("")}"/><rect class="frame" x="${left}" y="${top}" width="${source.length * cell}" height="${target.length * cell}"/>`);
    for (const [place, sure] of gold) {
      const x = left + (place % source.length) * cell + 1, y = top + Math.floor(place / source.length) * cell + 1;
      parts.push(`<rect class="gold ${sure ? "sure" : "possible"}" x="${x}" y="${y}" width="${cell - 2}" height="${cell - 2}"/>`);
    }
    if (!this.wordless) source.forEach((word, s) => {
      const x = left + (s + 0.5) * cell + font / 4, y = top - 5;
      parts.push(`<text class="word" data-s="${s}" font-size="${font}" transform="translate(${x} ${y}) rotate(-60)">${escaped(cut(word))}</text>`);
    });
    if (!this.wordless) target.forEach((word, t) => {
      parts.push(`<text class="word end" data-t="${t}" font-size="${font}" x="${left - 6}" y="${top + (t + 0.5) * cell + font * 0.35}">${escaped(cut(word))}</text>`);
    });
    parts.push(`<rect class="cross rows"/><rect class="cross columns"/><rect class="at" width="${cell}" height="${cell}"/>`);
    return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true">${parts.join("")}</svg>`;
  }

  // Returns the weights as a table, for readers who cannot see the drawing.
  table() {
    const head = element("tr", {}, element("th", { scope: "col" }, this.rows), ...this.source.map((word) => element("th", { scope: "col" }, word)));
    const rows = this.target.map((word, t) => element("tr", {}, element("th", { scope: "row" }, word), ...this.source.map((_, s) => element("td", {}, this.weight(t, s).toFixed(3)))));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Weights: ${this.name}` }, table);
  }

  listen() {
    const svg = $("svg", this.element);
    const follow = (event) => {
      const box = svg.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left - this.left) / this.cell);
      const row = Math.floor((event.clientY - box.top - this.top) / this.cell);
      if (row >= 0 && row < this.target.length && column >= 0 && column < this.source.length) this.onMove(row, column);
    };
    svg.addEventListener("pointermove", follow);
    svg.addEventListener("pointerdown", follow);
    this.element.addEventListener("keydown", (event) => {
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e6], End: [0, 1e6] };
      let [down, right] = moves[event.key] ?? [0, 0];
      if (event.key === "Enter") right = this.strongest(this.row) - this.column;
      else if (!moves[event.key]) return;
      event.preventDefault();
      const within = (value, count) => Math.max(0, Math.min(count - 1, value));
      this.onMove(within(this.row + down, this.target.length), within(this.column + right, this.source.length));
      $(".at", this.element).scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }

  weight(row, column) { return this.steps[row * this.source.length + column] / 255; }

  strongest(row) {
    const line = this.steps.subarray(row * this.source.length, (row + 1) * this.source.length);
    return line.indexOf(Math.max(...line));
  }

  // Moves the cursor and returns the description of its cell; "" for a cell beyond this matrix.
  mark(row, column) {
    if (row >= this.target.length || column >= this.source.length) return "";
    [this.row, this.column] = [row, column];
    const place = (selector, x, y, width, height) => {
      for (const [key, value] of Object.entries({ x, y, width, height })) $(selector, this.element).setAttribute(key, value);
    };
    const x = this.left + column * this.cell, y = this.top + row * this.cell;
    place(".at", x, y, this.cell, this.cell);
    place(".rows", this.left, y, this.source.length * this.cell, this.cell);
    place(".columns", x, this.top, this.cell, this.target.length * this.cell);
    for (const word of $$(".word", this.element))
      word.classList.toggle("on", Number(word.dataset.t) === row || Number(word.dataset.s) === column);
    const link = this.gold.get(row * this.source.length + column);
    const known = link === undefined ? "" : link ? ", sure link" : ", possible link";
    return `“${this.target[row]}” looks at “${this.source[column]}”: ${this.weight(row, column).toFixed(3)}${known}; most at “${this.source[this.strongest(row)]}” (${this.weight(row, this.strongest(row)).toFixed(3)})`;
  }
}
