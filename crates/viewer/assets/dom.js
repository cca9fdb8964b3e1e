// Building the page. Data only ever becomes text nodes and attribute values.
//
// h(tag, attrs, ...children)  an element. attrs: {class, title, "aria-label", dataset: {..}, style: {..}
//     (through the CSSOM), onclick: function, any boolean, any attribute}; null, undefined and false leave
//     an attribute out. children: nodes, strings, numbers, arrays; null, undefined and false are skipped.
// svg(tag, attrs, ...children)  the same for SVG.
// plain(text)   on one line; control and direction characters made visible.
// lines(text)   the same, but line breaks and tabs stay: for <pre>.
// clip(text, most)  the beginning and an ellipsis.
// byId(id), fill(element, ...children)  (takes the place of what was in it), data()  (the page's data).
// say(text)     tells people who listen instead of looking.
// connected(is)  whether the viewer answers, told on every page.
// badge(state)  `passed`, `failed`, `faulted`, `missing`, `running`, `live`, `complete`, `stopped`,
//     `broken` as sign and word.  sign(state)  the sign alone.
// icon(path)    a small picture for a button, of 16 by 16.
// kept(name, otherwise), keep(name, text)  small things that a browser remembers for a person; `otherwise`
//     (null) where it has none or may not. keptHere, keepHere: for this tab alone.
// debounce(wait, run)  run, once nobody has asked for `wait` ms.
// ready()       the page can be worked with.

const SVG = "http://www.w3.org/2000/svg";
const SIGNS = { passed: "✓", failed: "✕", faulted: "!", missing: "·", running: "▸", live: "▸", complete: "✓", stopped: "‖", broken: "!" };
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

export function h(tag, attrs, ...children) {
  return build(document.createElement(tag), attrs, children);
}

export function svg(tag, attrs, ...children) {
  return build(document.createElementNS(SVG, tag), attrs, children);
}

function build(element, attrs, children) {
  for (const [name, value] of Object.entries(attrs || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

export function fill(element, ...children) {
  element.textContent = "";
  append(element, children);
  return element;
}

function shown(c) {
  const code = c.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return "<" + code.toString(16).toUpperCase().padStart(4, "0") + ">";
}

export function lines(text) {
  return String(text ?? "").replace(/\r\n/g, "\n").replace(UNSEEN, shown);
}

export function plain(text) {
  return String(text ?? "").replace(/[\r\n\t\u2028\u2029]+/g, " ").replace(UNSEEN, shown);
}

export function clip(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "") + "…";
}

export function byId(id) {
  return document.getElementById(id);
}

export function data() {
  const element = byId("data");
  return element ? JSON.parse(element.textContent) : {};
}

export function say(text) {
  const place = byId("says");
  if (place) place.textContent = text;
}

// What is on the page stays, and is old.
export function connected(is) {
  byId("lost").hidden = is;
}

export function sign(state) {
  return h("span", { class: "sign is-" + state, "aria-hidden": "true" }, SIGNS[state] || "?");
}

export function badge(state) {
  return h("span", { class: "badge is-" + state }, sign(state), plain(state));
}

export function icon(path) {
  return svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: path }));
}

function recalled(storage, name, otherwise) {
  try {
    return window[storage].getItem(name) ?? otherwise;
  } catch (_) {
    return otherwise;
  }
}

function remember(storage, name, text) {
  try {
    window[storage].setItem(name, text);
  } catch (_) {
    // Holds for this page only.
  }
}

export function kept(name, otherwise = null) {
  return recalled("localStorage", name, otherwise);
}

export function keep(name, text) {
  remember("localStorage", name, text);
}

export function keptHere(name, otherwise = null) {
  return recalled("sessionStorage", name, otherwise);
}

export function keepHere(name, text) {
  remember("sessionStorage", name, text);
}

export function debounce(wait, run) {
  let timer = 0;
  return (...args) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => run(...args), wait);
  };
}

// Gets what is wanted and shows it. The latest wish counts: what is wanted while an answer is awaited is got next.
export function latest(get, show, failed) {
  let asking = false;
  let again = false;
  return async () => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    do {
      again = false;
      try {
        const found = await get();
        if (!again) show(found);
      } catch (error) {
        // What is wanted by now may well be had.
        if (!again) failed(error);
      }
    } while (again);
    asking = false;
  };
}

// The page has drawn what one works with: a mark for whoever measures it (`performance.mark`).
export function ready() {
  window.requestAnimationFrame(() => window.performance.mark("agon-ready"));
}
