// The list of runs: search, sort, choose some to compare.

import { h, svg, plain, byId, connected, fill, data, badge, debounce, ready } from "./dom.js";
import { NONE, percent, range, count, duration, money, day, time, ago, counted } from "./format.js";
import { Rows } from "./rows.js";
import { bind } from "./keys.js";
import { capabilities, get, link } from "./source.js";

const HEIGHT = 48;
// From one look to the next, in ms; at least so many times what a look costs, and no longer than this.
const REST = 4000;
const SHARE = 20;
const LONGEST_REST = 10000;
const BAR = 96;
const SPENT = "Money and time of all attempts together. A run that plays several at once takes less itself.";

let cards = data().cards;
let said = JSON.stringify(cards);
let lastTook = 0;
let looking = false;
let nextLook = 0;
const chosen = new Set();
const view = reading();

const COLUMNS = [
  { name: "", label: "Compare" },
  { name: "State", sort: (card) => card.state },
  { name: "Suite", sort: (card) => card.suites.join(" ").toLowerCase() },
  { name: "Agent", sort: (card) => card.agent.toLowerCase() },
  { name: "Score", sort: (card) => card.score_floor, most: true },
  { name: "Coverage", sort: (card) => card.coverage, most: true },
  { name: "Faults", sort: (card) => card.faulted, most: true, number: true },
  { name: "Cost, time", title: SPENT, sort: (card) => card.money ?? -1, most: true, number: true },
  { name: "Begun", sort: (card) => card.created || "", most: true, number: true },
];
const NEWEST = "begun";

const list = new Rows({
  body: byId("rows"),
  scroller: null,
  height: HEIGHT,
  top: () => 44 + 32,
  key: (card) => card.id,
  render: row,
  empty: () =>
    cards.length === 0
      ? h("div", { class: "empty" }, h("strong", {}, "No runs here yet"), "Begin one: ", h("code", {}, "agon run suites/demo --agent oracle"))
      : h("div", { class: "empty" }, h("strong", {}, "No run matches"), h("button", { type: "button", onclick: () => search("") }, "Show all runs")),
});

function reading() {
  const asked = new URLSearchParams(window.location.search);
  return { q: asked.get("q") || "", sort: asked.get("sort") || "begun", up: asked.get("up") === "true" };
}

function remember() {
  const asked = new URLSearchParams();
  if (view.q) asked.set("q", view.q);
  if (view.sort !== NEWEST) asked.set("sort", view.sort);
  if (view.up) asked.set("up", "true");
  const text = asked.toString();
  window.history.replaceState(window.history.state, "", text ? "?" + text : window.location.pathname);
}

function column(name) {
  return COLUMNS.find((one) => slug(one.name) === name) || COLUMNS[COLUMNS.length - 1];
}

function slug(name) {
  return name.toLowerCase().split(",")[0];
}

function matching() {
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (card) => [card.id, card.agent, card.state, ...card.suites, ...card.models, card.judge || ""].join(" ").toLowerCase();
  const found = cards.filter((card) => {
    const all = text(card);
    return words.every((word) => all.includes(word));
  });
  const { sort } = column(view.sort);
  const sign = view.up ? 1 : -1;
  return found
    .map((card, at) => ({ card, at, by: sort(card) }))
    .sort((a, b) => (a.by < b.by ? -sign : a.by > b.by ? sign : a.at - b.at))
    // A row that tells another age than before is drawn anew.
    .map((one) => ({ ...one.card, age: one.card.created ? ago(one.card.created) : "" }));
}

function draw(keep) {
  const found = matching();
  byId("shown").textContent = found.length === cards.length ? count(cards.length) : count(found.length) + " of " + count(cards.length);
  list.show({ total: found.length, rows: found }, { keep });
}

function heads() {
  const cells = COLUMNS.map((one) => {
    if (!one.sort) return h("div", { class: "th", role: "columnheader" }, h("span", { class: "unseen" }, capabilities.choose ? one.label : ""));
    const active = slug(one.name) === view.sort;
    const order = active ? (view.up ? "ascending" : "descending") : "none";
    const sortBy = () => {
      view.up = active ? !view.up : !one.most;
      view.sort = slug(one.name);
      remember();
      heads();
      draw(true);
    };
    return h("div", { class: one.number ? "th number" : "th", role: "columnheader", "aria-sort": order }, h("button", { type: "button", onclick: sortBy, title: one.title, dataset: { sort: slug(one.name) } }, one.name));
  });
  const held = document.activeElement && document.activeElement.dataset.sort;
  const place = fill(byId("heads"), cells);
  if (held) place.querySelector(`[data-sort="${held}"]`).focus();
}

function two(top, bottom, attrs) {
  return h("div", { class: "cell two", role: "cell", ...attrs }, h("div", { class: "clip" }, top), h("div", { class: "clip small soft" }, bottom));
}

function scoreBar(card) {
  const at = (share) => (share * BAR).toFixed(1);
  const bar = svg("svg", { class: "score-bar", viewBox: `0 0 ${BAR} 16`, width: BAR, height: 16, "aria-hidden": "true" });
  bar.append(svg("rect", { class: "track", x: 0, y: 4, width: BAR, height: 8, rx: 1 }));
  if (card.score !== null) {
    bar.append(svg("rect", { class: "f-pale", x: 0, y: 4, width: at(card.score), height: 8 }));
    bar.append(svg("rect", { class: "f-accent", x: 0, y: 4, width: at(card.score_floor), height: 8 }));
  }
  if (card.score_ci) {
    const [low, high] = [at(card.score_ci.low), at(card.score_ci.high)];
    bar.append(svg("path", { class: "whisker", d: `M${low} 8m0 -4v8m0 -4H${high}m0 -4v8` }));
  }
  return bar;
}

// How much is graded: whether it passed is what the score tells.
function outcomes(card) {
  const told = ["passed", "failed", "faulted", "missing"].filter((name) => card[name] > 0).map((name) => counted(card[name], name, name)).join(", ");
  const parts = [["accent", card.passed + card.failed], ["faulted", card.faulted], ["missing", card.missing]].filter(([, number]) => number > 0);
  return h("span", { class: "meter parts", title: told }, parts.map(([name, number]) => h("span", { class: "f-" + name, style: { width: (100 * number) / Math.max(1, card.planned) + "%" } })));
}

function row(card) {
  // A run of single tasks has a suite for each of them.
  const name = plain([...new Set(card.suites)].join(", ")) || plain(card.id);
  const box = h("input", { type: "checkbox", "aria-label": "Compare " + plain(card.id), onchange: () => choose(card.id) });
  box.checked = chosen.has(card.id);
  box.disabled = card.state === "broken";
  const graded = card.passed + card.failed;
  const ended = graded + card.faulted;
  const models = card.models.map(plain).join(", ");
  const problem = card.problems.length > 0 ? plain(card.problems[0]) : "";
  const told = problem ? h("span", { class: "clip " + (card.state === "broken" ? "is-broken" : "is-faulted"), title: card.problems.map(plain).join("\n") }, "! " + problem) : null;
  // Several runs have the same suite: what is wrong with one does not tell it from the others.
  const named = name === plain(card.id) && told ? told : h("span", { class: "named" }, h("span", { class: "clip" }, plain(card.id)), told);
  const cells =
    card.state === "broken"
      ? []
      : [
          two(plain(card.agent), models || (card.judge ? "judged by " + plain(card.judge) : "no model"), { title: plain(card.agent) + (models ? "\n" + models : "") }),
          h("div", { class: "cell score", role: "cell" }, scoreBar(card), h("div", {}, h("div", {}, h("b", {}, percent(card.score_floor)), h("span", { class: "small soft" }, " coverage " + percent(card.coverage))), h("div", { class: "small soft", title: "Without faults, with its 95 % interval" }, card.score === null ? "" : percent(card.score) + " (" + range(card.score_ci) + ")"))),
          h("div", { class: "cell", role: "cell" }, h("div", {}, card.state === "live" ? count(ended) + " of " + count(card.planned) : percent(card.coverage)), outcomes(card)),
          h("div", { class: "cell number", role: "cell" }, card.faulted > 0 ? h("span", { class: "is-faulted" }, "! " + count(card.faulted)) : h("span", { class: "soft" }, "0")),
          two(money(card.money, card.unpriced), duration(card.seconds), { class: "cell two number", title: SPENT }),
          two(day(card.created), card.created ? time(card.created).slice(0, 5) + ", " + card.age : NONE, { class: "cell two number" }),
        ];
  return h(
    "div",
    { class: "row", role: "row" },
    h("div", { class: "cell", role: "cell" }, capabilities.choose ? h("label", { class: "pick" }, box) : null),
    h("div", { class: "cell", role: "cell" }, badge(card.state)),
    two(h("a", { href: link("run", card.id), "data-focus": true }, name), named, { title: plain(card.path), class: card.state === "broken" ? "cell two wide" : "cell two" }),
    cells,
  );
}

function choose(id) {
  if (chosen.has(id)) chosen.delete(id);
  else chosen.add(id);
  compareButton();
}

function compareButton() {
  const button = byId("compare");
  if (!capabilities.live) {
    // Files hold a comparison of all runs, and of each two of them.
    button.hidden = !capabilities.compare;
    button.disabled = chosen.size !== 0 && chosen.size !== 2;
    button.textContent = chosen.size === 0 ? "Compare all" : "Compare " + chosen.size;
    button.title = button.disabled ? "An export compares two runs, or all" : capabilities.pairs ? "Choose two runs to compare them alone" : "";
    return;
  }
  button.disabled = chosen.size < 2 || chosen.size > 8;
  button.textContent = chosen.size > 1 ? "Compare " + chosen.size : "Compare";
  button.title = chosen.size > 8 ? "At most 8 runs" : chosen.size < 2 ? "Choose two or more runs" : "";
}

function compare() {
  const button = byId("compare");
  if (!button.disabled && !button.hidden) window.location.assign(link("compare", inOrder()));
}

// The oldest is what the others are compared with; in files, the one that was named first.
function inOrder() {
  const picked = cards.filter((card) => chosen.has(card.id));
  if (capabilities.live) picked.sort((a, b) => ((a.created || "") < (b.created || "") ? -1 : 1));
  return picked.map((card) => card.id);
}

function search(text) {
  view.q = text;
  byId("search").value = text;
  remember();
  draw(false);
}

// A run may begin, or go on, at any time.
async function look() {
  const began = performance.now();
  try {
    const found = await get("/runs");
    connected(true);
    const text = JSON.stringify(found);
    if (text !== said) {
      cards = found;
      draw(true);
      said = text;
    }
  } catch (error) {
    // It is asked again.
    if (error.status === 0) connected(false);
  }
  const took = performance.now() - began;
  // The quicker one of two says what it costs: a machine that was busy for a moment does not make a page wait.
  const rest = SHARE * Math.min(took, lastTook);
  lastTook = took;
  return Math.min(LONGEST_REST, Math.max(REST, rest));
}

// Nobody sees a page that is hidden: it is up to date again as soon as it is seen.
function watch() {
  window.clearTimeout(nextLook);
  nextLook = 0;
  if (looking || document.hidden) return;
  looking = true;
  look().then((rest) => {
    looking = false;
    if (!document.hidden) nextLook = window.setTimeout(watch, rest);
  });
}

byId("search").value = view.q;
byId("search").addEventListener("input", debounce(50, () => search(byId("search").value)));
byId("compare").addEventListener("click", compare);
heads();
draw(false);
compareButton();
if (capabilities.live) {
  nextLook = window.setTimeout(watch, REST);
  document.addEventListener("visibilitychange", watch);
  // Pages that are left by a link may come back whole, with what they said then.
  window.addEventListener("pageshow", (event) => event.persisted && watch());
}

bind(["j", "ArrowDown"], "Next run", () => list.step(1), { group: "Runs" });
bind(["k", "ArrowUp"], "Previous run", () => list.step(-1), { group: "Runs" });
bind("Enter", "Open the run", () => list.item && window.location.assign(link("run", list.item.id)), { group: "Runs" });
if (capabilities.choose) bind("x", "Choose for a comparison", () => list.item && (choose(list.item.id), list.redraw(), list.pick(list.index)), { group: "Runs" });
if (capabilities.compare) bind("c", capabilities.choose ? "Compare the chosen runs" : "Compare all runs", compare, { group: "Runs" });
bind("/", "Search", () => byId("search").focus(), { group: "Runs" });
ready();
