// Colours of the style sheet for what is drawn on a canvas, in the theme that is on.
import { h } from "./dom.js";

const known = new Map();
let probe = null;

function theme() {
  return document.documentElement.dataset.theme || (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

// The value of a custom property such as `--accent` as a colour.
export function ink(name) {
  const key = theme() + name;
  if (!known.has(key)) {
    if (!probe) {
      probe = h("span", { hidden: true });
      document.body.append(probe);
    }
    probe.style.color = "var(--" + name + ")";
    known.set(key, getComputedStyle(probe).color);
  }
  return known.get(key);
}

// Calls back when the theme changes.
export function onTheme(draw) {
  const soon = () => requestAnimationFrame(draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon);
  new MutationObserver(soon).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}
