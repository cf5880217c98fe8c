// Theme, selections stored in the address, unfolding for print, hints at content wider than the screen.
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
    try { localStorage.setItem("softalign-theme", theme); } catch { /* the browser stores nothing */ }
  };
  set(order.includes(remembered()) ? remembered() : "auto");
  button.addEventListener("click", () => set(order[(order.indexOf(button.dataset.now) + 1) % order.length]));
}

const tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });

function showTip(x, y, heading, rows) {
  tip.replaceChildren(element("b", {}, heading), ...rows.map(([name, value]) => element("div", {}, element("span", {}, name), element("span", {}, value))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), right = x + 14 + box.width < innerWidth;
  tip.style.left = `${Math.max(4, right ? x + 14 : x - 14 - box.width)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - box.height - 4))}px`;
}

function hideTip() { tip.hidden = true; }

// For screen readers.
const spoken = element("p", { class: "visually-hidden", role: "status" });
function say(text) { spoken.textContent = text ?? ""; }

// Shows a hint above content that is wider than its box, in addition to the shadow at its edge.
function initScroll() {
  for (const box of $$(".scroll")) {
    const end = box.dataset.end ? `, to ${box.dataset.end}` : "";
    const hint = element("p", { class: "note swipe", hidden: "" }, `more to the right${end}: scroll sideways →`);
    box.before(hint);
    const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
    const observer = new ResizeObserver(look);
    for (const each of [box, ...box.children]) observer.observe(each);
  }
}

// Selections, stored in the page's address: every control with data-keep, and the explorer's sentence. A link with that address restores them.
const Kept = {
  values: new URLSearchParams(),
  read() { if (location.hash.includes("=")) Kept.values = new URLSearchParams(location.hash.slice(1)); },
  write(name, value, usual) {
    if (Kept.reading) return;
    if (value === usual) Kept.values.delete(name);
    else Kept.values.set(name, value);
    history.replaceState(null, "", Kept.values.size ? `#${Kept.values}` : location.pathname + location.search);
  },
  value(control) { return control.localName === "button" ? control.getAttribute("aria-pressed") : control.value; },
  // Sets the controls to the values in the address, in the order of the page, because the options of one may depend on earlier ones.
  restore() {
    Kept.reading = true;
    for (const control of $$("[data-keep]")) {
      const value = Kept.values.get(control.dataset.keep);
      if (value === null || value === Kept.value(control)) continue;
      if (control.localName === "button") control.click();
      else {
        control.value = value;
        for (const type of ["input", "change"]) control.dispatchEvent(new Event(type, { bubbles: true }));
      }
    }
    document.dispatchEvent(new Event("kept"));
    Kept.reading = false;
  },
};

function initKept() {
  const usual = new Map($$("[data-keep]").map((control) => [control, Kept.value(control)]));
  const write = (event) => {
    const control = event.target.closest?.("[data-keep]");
    if (control) Kept.write(control.dataset.keep, Kept.value(control), usual.get(control));
  };
  for (const type of ["input", "change", "click"]) document.addEventListener(type, write);
  Kept.restore();
  addEventListener("hashchange", () => { if (location.hash.includes("=")) { Kept.read(); Kept.restore(); } });
}

// Opens the target of a link on the page, and the folded parts that contain it.
function initLinks() {
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.localName === "details") part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
}

// In print, only long tables behind charts remain folded. The event of the media query comes too late for a printer, which
// has already counted the pages; a preview sends only that event.
function initPrint() {
  const opened = new Set();
  const open = () => {
    for (const part of $$("details:not([open])"))
      if (!part.matches(".data") || $$("tr", part).length <= 12) { part.open = true; opened.add(part); }
  };
  const close = () => {
    for (const part of opened) part.open = false;
    opened.clear();
  };
  addEventListener("beforeprint", open);
  addEventListener("afterprint", close);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? open() : close()));
}
