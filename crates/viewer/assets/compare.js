// Runs against each other: the table of tasks, of which only those that are looked at are in the page. What is
// shown stands in the address: `show`, `against`, `q`, `sort`.
import { byId, data, debounce, fill, h, latest, plain, say, sign, ready } from "./dom.js";
import { count, counted, duration, money, percent, value } from "./format.js";
import { bind } from "./keys.js";
import { Rows } from "./rows.js";
import { get, link } from "./source.js";

const PAGE = 100;
// Widths of columns.
const [TASK, LEVEL, RUN, POINTS, LOOK] = [200, 64, 124, 64, 88];
// So many runs have room beside each other in the smallest window.
const ROOM = 4;
const KINDS = ["all", "gained", "lost", "both", "neither", "open"];
const NAMES = { all: "All", gained: "Gained", lost: "Lost", both: "Both", neither: "Neither", open: "Not comparable" };
const HINTS = {
  gained: "Solved by this run, not by the first",
  lost: "Solved by the first run, not by this one",
  both: "Solved by both",
  neither: "Solved by neither",
  open: "Faulted, missing or not planned in one of both",
};

const first = data();
const { runs } = first;
const ids = runs.map((run) => run.id);
const state = read();
const buttons = new Map();
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

// What is not said is as it is without.
function params(wish) {
  const said = { run: ids };
  if (wish.show !== "all") said.show = wish.show;
  if (wish.against !== 1) said.against = ids[wish.against];
  if (wish.q) said.q = wish.q;
  if (wish.sort !== "difference") said.sort = wish.sort;
  if (wish.desc) said.desc = "true";
  return said;
}

function written(wish) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(params(wish))) {
    for (const one of [value].flat()) said.append(name, one);
  }
  return "?" + said;
}

// A click is a step on the way back; letters that are typed are one together.
function write(types) {
  const address = written(state);
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

function difference(task) {
  const [first, other] = [task.cells[0], task.cells[state.against]];
  return first && other && first.score !== null && other.score !== null ? other.score - first.score : null;
}

function points(by) {
  if (by === null) return "";
  const shown = (Math.abs(by) * 100).toFixed(1);
  return shown === "0.0" ? "0" : (by < 0 ? "−" : "+") + shown;
}

// The largest difference comes first, unless it is turned round.
function turned() {
  return state.desc !== (state.sort === "difference");
}

function columns() {
  return `minmax(${TASK}px, 3fr) ${LEVEL}px ` + runs.map(() => `minmax(${RUN}px, 2fr)`).join(" ") + ` ${POINTS}px ${LOOK}px`;
}

// Pixels that all columns need.
function least() {
  const { columnGap, paddingLeft, paddingRight } = getComputedStyle(byId("heads"));
  const gaps = Number.parseFloat(columnGap) * (runs.length + 3);
  return TASK + LEVEL + RUN * runs.length + POINTS + LOOK + gaps + Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
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

function chips() {
  for (const name of KINDS) {
    const number = h("span", { class: "soft" });
    const button = h("button", { type: "button", title: HINTS[name], dataset: { kind: name }, onclick: () => choose(name) }, NAMES[name] + " ", number);
    buttons.set(name, { button, number });
    byId("show").append(button);
  }
}

function pressed() {
  for (const [name, { button }] of buttons) button.setAttribute("aria-pressed", String(state.show === name));
}

function choose(name) {
  state.show = name;
  update();
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
  ask();
}

function draw() {
  pressed();
  heads();
}

function show(page) {
  for (const [name, { button, number }] of buttons) {
    number.textContent = count(page.kinds[name]);
    button.disabled = page.kinds[name] === 0 && state.show !== name;
  }
  list.show(page);
}

function load(offset, limit) {
  return get("/compare/tasks", { ...params(state), offset, limit });
}

function failed(error) {
  byId("shown").textContent = error.message;
}

const ask = latest(() => load(0, PAGE), (page) => {
  show(page);
  toTop();
  say(counted(page.total, "task"));
}, failed);

// Another list is read from its beginning.
function toTop() {
  const over = byId("rows").getBoundingClientRect().top - byId("heads").getBoundingClientRect().bottom;
  if (over < 0) (list.options.scroller || window).scrollBy({ top: over, behavior: "instant" });
}

function start() {
  const table = byId("tasks");
  const wide = runs.length > ROOM;
  table.classList.toggle("wide", wide);
  if (wide) table.style.setProperty("--least", least() + "px");
  list = new Rows({
    body: byId("rows"),
    scroller: wide ? table : null,
    height: 48,
    page: PAGE,
    ahead: 2,
    top: () => (wide ? byId("heads").offsetHeight : 44),
    render: row,
    key: (task) => task.task,
    load,
    failed,
    changed: (total) => (byId("shown").textContent = counted(total, "task")),
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
    ask();
  });
  const group = { group: "Tasks" };
  bind("j", "Next task", () => list.step(1), group);
  bind("k", "Previous task", () => list.step(-1), group);
  bind("Enter", "Side by side", () => list.item && window.location.assign(link("sidebyside", list.item.task, ids)), group);
  bind("/", "Search", () => search.focus(), group);
  against();
  chips();
  draw();
  // A page that is a file does not know its own address.
  if (written(state) === written(first.query)) show(first.page);
  else ask();
}

start();
ready();
