// Runs against each other: the table of tasks. What is shown stands in the address: `show`, `against`, `q`, `sort`.
import { byId, data, debounce, fill, h, plain, say, sign, ready } from "./dom.js";
import { count, counted, duration, money, percent, value } from "./format.js";
import { bind } from "./keys.js";
import { Rows } from "./rows.js";
import { link } from "./source.js";

const KINDS = ["all", "gained", "lost", "both", "neither", "open"];
const NAMES = { all: "All", gained: "Gained", lost: "Lost", both: "Both", neither: "Neither", open: "Not comparable" };
const HINTS = {
  gained: "Solved by this run, not by the first",
  lost: "Solved by the first run, not by this one",
  both: "Solved by both",
  neither: "Solved by neither",
  open: "Faulted, missing or not planned in one of both",
};

const { comparison } = data();
const { runs, tasks } = comparison;
const ids = runs.map((run) => run.id);
const state = read();
let list = null;
let typing = false;

function read() {
  const said = new URLSearchParams(window.location.search);
  const against = ids.indexOf(said.get("against"));
  return {
    show: KINDS.includes(said.get("show")) ? said.get("show") : "all",
    against: against > 0 ? against : 1,
    q: said.get("q") || "",
    sort: said.get("sort") || "difference",
    desc: said.get("desc") === "true",
  };
}

// A click is a step on the way back; letters that are typed are one together.
function write(types) {
  const said = new URLSearchParams();
  ids.forEach((id) => said.append("run", id));
  if (state.show !== "all") said.set("show", state.show);
  if (state.against !== 1) said.set("against", ids[state.against]);
  if (state.q) said.set("q", state.q);
  if (state.sort !== "difference") said.set("sort", state.sort);
  if (state.desc) said.set("desc", "true");
  const address = "?" + said;
  try {
    if (window.location.search === address || (types && typing)) window.history.replaceState(null, "", address);
    else window.history.pushState(null, "", address);
  } catch (_) {
    // A browser may forbid it for files: then the address stays.
  }
  typing = types;
}

// More often than not; null where nothing was graded.
function solved(cell) {
  return cell && cell.graded > 0 ? cell.passed * 2 > cell.graded : null;
}

function kind(task) {
  const [first, other] = [solved(task.cells[0]), solved(task.cells[state.against])];
  if (first === null || other === null) return "open";
  if (first) return other ? "both" : "lost";
  return other ? "gained" : "neither";
}

function difference(task) {
  const [first, other] = [task.cells[0], task.cells[state.against]];
  return first && other && first.score !== null && other.score !== null ? other.score - first.score : null;
}

function points(by) {
  if (by === null) return "";
  const shown = (Math.abs(by) * 100).toFixed(1);
  return shown === "0.0" ? "0" : (by < 0 ? "−" : "+") + shown;
}

// What a table is sorted by: each kind of value, those that are not known last.
const ORDERS = {
  difference: (task) => {
    const by = difference(task);
    return by === null ? null : Math.abs(by);
  },
  task: (task) => task.task,
  level: (task) => task.level,
};

// The largest difference comes first, unless it is turned round.
function turned() {
  return state.desc !== (state.sort === "difference");
}

function order(name) {
  if (ORDERS[name]) return ORDERS[name];
  const at = runs.findIndex((run) => run.sign === name);
  return at < 0 ? ORDERS.difference : (task) => (task.cells[at] ? task.cells[at].score : null);
}

function sorted(shown) {
  const by = order(state.sort);
  const turn = turned() ? -1 : 1;
  const keyed = shown.map((task, at) => ({ task, at, value: by(task) }));
  const open = (one) => one.value === null || one.value === undefined;
  keyed.sort((a, b) => {
    if (open(a) || open(b)) return open(a) - open(b) || a.at - b.at;
    const less = typeof a.value === "string" ? a.value.localeCompare(b.value) : a.value - b.value;
    return less * turn || a.at - b.at;
  });
  return keyed.map((one) => one.task);
}

function matches(task, words) {
  if (words.length === 0) return true;
  const text = (task.task + " " + task.name + " " + (task.level || "")).toLowerCase();
  return words.every((word) => text.includes(word));
}

function columns() {
  return "minmax(200px, 3fr) 64px " + runs.map(() => "minmax(124px, 2fr)").join(" ") + " 64px 88px";
}

function head(name, label, extra) {
  const on = state.sort === name;
  const sort = on ? (turned() ? "descending" : "ascending") : "none";
  const turn = () => {
    state.desc = on ? !state.desc : false;
    state.sort = name;
    update();
    byId("heads").querySelector('[data-sort="' + CSS.escape(name) + '"]').focus();
  };
  return h("div", { class: "th " + (extra || ""), role: "columnheader", "aria-sort": sort }, h("button", { type: "button", dataset: { sort: name }, onclick: turn }, label));
}

function cellOf(cell) {
  if (!cell) return h("div", { class: "cell soft", role: "cell" }, "not planned");
  const was = solved(cell);
  const name = was === null ? (cell.faulted > 0 ? "faulted" : "missing") : was ? "passed" : "failed";
  const several = cell.graded + cell.faulted + cell.missing > 1;
  const figures = [duration(cell.seconds), counted(cell.steps === null ? 0 : Number(value(cell.steps)), "step")];
  if (cell.money !== null) figures.push(money(cell.money, cell.unpriced));
  return h("div", { class: "cell", role: "cell" },
    h("span", { class: "cell-top" }, sign(name), h("span", { class: "unseen" }, name + " "), was === null ? h("span", { class: "is-" + name }, name) : percent(cell.score), several && was !== null ? h("span", { class: "soft" }, " " + cell.passed + "/" + cell.graded) : null, was !== null && cell.faulted > 0 ? h("span", { class: "tag warn" }, cell.faulted + " faulted") : null),
    was === null ? null : h("span", { class: "cell-more soft small", title: figures.join(" · ") }, figures.join(" · ")));
}

function row(task) {
  const by = difference(task);
  const address = link("sidebyside", task.task, ids);
  return h("div", { class: "row compared", role: "row", style: { gridTemplateColumns: columns() } },
    h("div", { class: "cell", role: "cell" }, h("a", { class: "cell-top clip", href: address, "data-focus": true }, plain(task.task)), h("span", { class: "cell-more soft small", title: plain(task.name) }, plain(task.name))),
    h("div", { class: "cell soft", role: "cell" }, plain(task.level || "")),
    task.cells.map(cellOf),
    h("div", { class: "cell number " + (by > 0 ? "is-passed" : by < 0 ? "is-failed" : "soft"), role: "cell" }, points(by)),
    h("div", { class: "cell number", role: "cell" }, h("a", { href: address, tabindex: "-1", "aria-hidden": "true" }, "Side by side")));
}

function heads() {
  const place = byId("heads");
  place.style.gridTemplateColumns = columns();
  fill(place,
    head("task", "Task"),
    head("level", "Level"),
    runs.map((run, at) => head(run.sign, [h("span", { class: "run-sign" + (at === 0 || at === state.against ? "" : " dim") }, run.sign), h("span", { class: "clip" }, plain(run.models[0] || run.agent))])),
    head("difference", "Points", "number"),
    h("div", { class: "th", role: "columnheader" }, h("span", { class: "unseen" }, "Look")));
}

function chips(words) {
  const found = Object.fromEntries(KINDS.map((name) => [name, 0]));
  for (const task of tasks) {
    if (!matches(task, words)) continue;
    found.all += 1;
    found[kind(task)] += 1;
  }
  fill(byId("show"), KINDS.map((name) => h("button", { type: "button", title: HINTS[name], "aria-pressed": String(state.show === name), disabled: found[name] === 0 && state.show !== name, dataset: { kind: name }, onclick: () => choose(name) }, NAMES[name] + " ", h("span", { class: "soft" }, count(found[name])))));
}

function choose(name) {
  state.show = name;
  update();
  byId("show").querySelector('[data-kind="' + name + '"]').focus();
}

function against() {
  if (runs.length < 3) return;
  const pick = h("select", { "aria-label": "Which run against the first", onchange: (event) => {
    state.against = Number(event.target.value);
    update();
  } }, runs.slice(1).map((run, at) => h("option", { value: at + 1, selected: at + 1 === state.against }, run.sign + " against " + runs[0].sign)));
  fill(byId("against"), pick);
}

function update(types) {
  draw();
  write(Boolean(types));
}

function draw() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  chips(words);
  heads();
  const shown = tasks.filter((task) => (state.show === "all" || kind(task) === state.show) && matches(task, words));
  list.show({ total: shown.length, offset: 0, rows: sorted(shown) });
  fill(byId("shown"), counted(shown.length, "task"));
  say(counted(shown.length, "task"));
}

function start() {
  list = new Rows({
    body: byId("rows"),
    scroller: null,
    height: 48,
    top: 44,
    render: row,
    key: (task) => task.task,
    empty: () => h("p", { class: "empty" }, h("strong", {}, "No such task"), "Choose others above, or search for other words."),
  });
  const search = byId("search");
  search.value = state.q;
  search.addEventListener("input", debounce(60, () => {
    state.q = search.value.trim();
    update(true);
  }));
  window.addEventListener("popstate", () => {
    Object.assign(state, read());
    typing = false;
    search.value = state.q;
    against();
    draw();
  });
  const group = { group: "Tasks" };
  bind("j", "Next task", () => list.step(1), group);
  bind("k", "Previous task", () => list.step(-1), group);
  bind("Enter", "Side by side", () => list.item && window.location.assign(link("sidebyside", list.item.task, ids)), group);
  bind("/", "Search", () => search.focus(), group);
  against();
  draw();
}

start();
ready();
