// Parts that texts of agents, programs and models are shown with: folded where they are long, differences in
// colour, JSON with its parts told apart. Only ever text nodes.
import { h, lines } from "./dom.js";
import { clock, count, counted } from "./format.js";

const SHOWN = 14;
const LONGEST_LINE = 2000;
const COLOURED = 60000;

// A text as it was written. More than a few lines are folded; a button shows them.
export function text(words, options) {
  const { kind = "", most = SHOWN } = options || {};
  const whole = lines(words);
  // A line break at the end begins no line.
  const all = whole.replace(/\n$/, "").split("\n");
  const short = all.slice(0, most).map((line) => (line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) + "…" : line)).join("\n");
  const folds = all.length > most + 2 || short.length < whole.length - 2000;
  const pre = h("pre", { class: "text " + kind }, folds ? short : whole);
  if (!folds) return pre;
  const button = h("button", { type: "button", class: "unfold", "aria-expanded": "false" });
  const label = () => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.textContent = open ? "Show less" : "Show all " + (all.length > most ? counted(all.length, "line") : counted(whole.length, "character"));
    pre.textContent = open ? whole : short;
    pre.classList.toggle("folded", !open);
  };
  button.addEventListener("click", () => {
    button.setAttribute("aria-expanded", button.getAttribute("aria-expanded") === "true" ? "false" : "true");
    label();
  });
  label();
  return h("div", { class: "fold" }, pre, button);
}

// Something that is made only when it is opened.
export function opening(title, make, options) {
  const { open = false, kind = "" } = options || {};
  const body = h("div", { class: "opening-body" });
  const details = h("details", { class: "opening " + kind }, h("summary", {}, title), body);
  let made = false;
  const show = () => {
    if (made || !details.open) return;
    made = true;
    Promise.resolve()
      .then(make)
      .then((node) => body.replaceChildren(node))
      .catch((error) => {
        made = false;
        body.replaceChildren(h("p", { class: "problem" }, String(error.message || error)));
      });
    body.replaceChildren(h("p", { class: "soft" }, "…"));
  };
  details.addEventListener("toggle", show);
  if (open) details.open = true;
  return details;
}

function diffLine(line) {
  const kind = line.startsWith("+++") || line.startsWith("---") ? "at" : line.startsWith("+") ? "more" : line.startsWith("-") ? "less" : line.startsWith("@@") ? "at" : "";
  return h("span", { class: "diff-" + (kind || "same") }, line || " ");
}

// A unified difference.
export function diff(words, most) {
  const all = lines(words).replace(/\n$/, "").split("\n");
  const limit = most || 40;
  const pre = h("pre", { class: "text diff" });
  const draw = (part) => pre.replaceChildren(...part.map(diffLine));
  if (all.length <= limit + 4) {
    draw(all);
    return pre;
  }
  draw(all.slice(0, limit));
  const button = h("button", { type: "button", class: "unfold" }, "Show all " + counted(all.length, "line"));
  button.addEventListener("click", () => {
    draw(all);
    button.remove();
  });
  return h("div", { class: "fold" }, pre, button);
}

// What was replaced by what.
export function replaced(old, fresh) {
  const marked = (words, sign) => String(words ?? "").split("\n").map((line) => sign + line);
  return diff([...marked(old, "-"), ...marked(fresh, "+")].join("\n"));
}

// JSON with keys, texts and numbers told apart.
export function json(value) {
  const whole = lines(JSON.stringify(value, null, 2));
  const pre = h("pre", { class: "text json" });
  if (whole.length > COLOURED) {
    pre.textContent = whole;
    return pre;
  }
  const parts = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  let at = 0;
  for (const found of whole.matchAll(parts)) {
    if (found.index > at) pre.append(whole.slice(at, found.index));
    const kind = found[1] ? (found[2] ? "json-key" : "json-text") : found[3] ? "json-word" : "json-number";
    pre.append(h("span", { class: kind }, found[1] || found[0]));
    if (found[2]) pre.append(found[2]);
    at = found.index + found[0].length;
  }
  pre.append(whole.slice(at));
  return pre;
}

// A time within a trial: hundredths matter in a short one.
export function stamp(t) {
  return t < 99.995 ? Number(t).toFixed(2) + " s" : clock(t);
}

// Bytes that are not there.
export function leftOut(bytes) {
  return bytes ? h("p", { class: "note" }, count(bytes) + " bytes were left out of the middle.") : null;
}

// A small fact: `name value`.
export function fact(name, value) {
  return h("span", { class: "fact" }, h("span", { class: "soft" }, name + " "), value);
}

export function tag(words, kind) {
  return h("span", { class: "tag " + (kind || "") }, words);
}
