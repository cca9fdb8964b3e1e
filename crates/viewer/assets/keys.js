// Keys of a page, and the dialog that lists them (`?`).
//
// bind(keys, label, run, options)  keys: "j", "ArrowLeft", "g r" (one after the other), or several in an
//     array; label: what stands in the list (none: not listed); options: {group: "Trial", always: true (also
//     while typing; for Escape)}. `run(event)` may return false: then the browser does what it would.
// help()  opens the list.  typing(event)  whether a person is writing.
// Bound on every page: `?`, `t` (theme), `g r` (runs), Escape (leaves the field or closes).
// Keys that are a single character can be turned off in the list (WCAG 2.1.4): who speaks to a machine, or
// slips on a keyboard, sets off none of them then. Arrows, Enter, Escape and the like always work.

import { keep, kept } from "./dom.js";

const SETTING = "agon-letter-keys";

let off = kept(SETTING) === "off";
const bound = [];
let chord = "";
let chordTimer = 0;

export function bind(keys, label, run, options) {
  const list = Array.isArray(keys) ? keys : [keys];
  bound.push({ keys: list, label, run, ...(options || {}) });
}

// Other pages of the same viewer follow.
window.addEventListener("storage", (event) => {
  if (event.key === SETTING) off = event.newValue === "off";
});

function isLetter(keys) {
  return keys.split(" ").some((key) => [...key].length === 1);
}

export function typing(event) {
  const at = event.target;
  if (!(at instanceof HTMLElement)) return false;
  if (at.isContentEditable || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement) return true;
  return at instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(at.type);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const writes = typing(event);
  const open = document.querySelector("dialog[open]");
  const key = event.key === " " ? "Space" : event.key;
  if (key === "Escape" && writes && !open) {
    // A browser would empty the field.
    event.preventDefault();
    event.target.blur();
    return;
  }
  const sequence = chord ? chord + " " + key : key;
  chord = "";
  window.clearTimeout(chordTimer);
  // A button that has the focus is pressed by Space and Enter.
  const presses = event.target instanceof HTMLElement && event.target.closest("button, a, summary, input, [role=tab]");
  const hit = bound.find((one) => one.keys.includes(sequence) && !(off && isLetter(sequence)) && (!writes || one.always) && (!open || one.always));
  if (hit) {
    if ((key === "Space" || key === "Enter") && presses) return;
    if (hit.run(event) !== false) event.preventDefault();
    return;
  }
  if (!writes && !open && !off && bound.some((one) => one.keys.some((keys) => keys.startsWith(sequence + " ")))) {
    chord = sequence;
    chordTimer = window.setTimeout(() => (chord = ""), 1200);
  }
}

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

function caps(keys) {
  const all = document.createElement("span");
  keys.forEach((one, at) => {
    if (at > 0) all.append(" or ");
    for (const key of one.split(" ")) {
      const cap = document.createElement("kbd");
      cap.textContent = NAMES[key] || key;
      all.append(cap, " ");
    }
  });
  return all;
}

export function help() {
  const old = document.querySelector("dialog.keys");
  if (old) old.remove();
  const dialog = document.createElement("dialog");
  dialog.className = "keys";
  dialog.setAttribute("aria-labelledby", "keys-title");
  const title = document.createElement("h2");
  title.id = "keys-title";
  title.textContent = "Keys";
  const columns = document.createElement("div");
  columns.className = "keys-groups";
  const groups = new Map();
  for (const one of bound.filter((one) => one.label)) {
    const name = one.group || "Everywhere";
    groups.set(name, [...(groups.get(name) || []), one]);
  }
  // What belongs to the page comes first.
  const order = [...groups.keys()].sort((a, b) => (a === "Everywhere") - (b === "Everywhere"));
  for (const name of order) {
    const part = document.createElement("section");
    const head = document.createElement("h3");
    head.textContent = name;
    const list = document.createElement("dl");
    for (const one of groups.get(name)) {
      const row = document.createElement("div");
      const term = document.createElement("dt");
      term.append(caps(one.keys));
      const what = document.createElement("dd");
      what.textContent = one.label;
      if (one.keys.every(isLetter)) row.className = "letters";
      row.append(term, what);
      list.append(row);
    }
    part.append(head, list);
    columns.append(part);
  }
  const label = document.createElement("label");
  label.className = "keys-letters";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = !off;
  const turn = () => {
    off = !box.checked;
    keep(SETTING, off ? "off" : "on");
    dialog.classList.toggle("letters-off", off);
  };
  box.addEventListener("change", turn);
  dialog.classList.toggle("letters-off", off);
  label.append(box, " Keys that are a single character");
  const form = document.createElement("form");
  form.method = "dialog";
  const close = document.createElement("button");
  close.textContent = "Close";
  form.append(close);
  form.prepend(label);
  dialog.append(title, columns, form);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

bind("?", "This list", help);
bind("t", "Light or dark", () => document.dispatchEvent(new Event("agon-theme")));
bind("g r", "Runs", () => {
  const home = document.querySelector("a.brand");
  if (home) window.location.assign(home.href);
});

document.addEventListener("keydown", pressed);
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-keys]")) help();
});
