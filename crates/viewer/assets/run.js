// The page of a run: its trials, filtered and sorted as the address says, and everything kept up to date
// while it goes on.

import { h, byId, fill, data, badge, say, kept, keep, keepHere, latest, ready } from "./dom.js";
import { count, when } from "./format.js";
import { Rows } from "./rows.js";
import { bind } from "./keys.js";
import { parse, params, write, narrows, LISTS } from "./query.js";
import { columns, template, head, row, HEIGHT } from "./trialtable.js";
import { Filters } from "./filters.js";
import { get, feed, fragment, link, capabilities } from "./source.js";

const LIST_EVERY = 1000;
const OVERVIEW_EVERY = 3000;
const RETRY = 5000;

const first = data();
const run = first.card.id;
let query = parse(window.location.search);
// The last that was told.
let revision = first.page.revision;
// Rises with everything that is told: a list that was asked for before is not the last word.
let told = 0;
let connected = false;
let playing = "";
// The heads of columns that are drawn.
let headed = "";
let live = first.card.state === "live";
// Letters are being typed: they are one step of the way back together.
let typing = false;
// Where the list stood, if it is to be shown there again.
let place = null;

const list = new Rows({
  body: byId("rows"),
  scroller: null,
  height: HEIGHT,
  page: 100,
  ahead: 2,
  top: () => byId("heads").getBoundingClientRect().bottom,
  key: (item) => item.task + "/" + item.epoch + "/" + (query.attempts ? item.attempt : ""),
  render: (item, index) => row(shown(), item, address(item), () => opened(index)),
  load: (offset, limit) => get("/runs/" + run + "/trials", { ...params(query), offset, limit }),
  changed: counted,
  failed: (error) => (byId("shown").textContent = error.message),
  empty: nothing,
});

const filters = new Filters({ menus: byId("menus"), chips: byId("chips"), checks: first.checks, change });

function shown() {
  const held = {};
  for (const name of document.querySelector("#overview [data-columns]").dataset.columns.split(" ")) held[name] = true;
  return columns({ ...held, epochs: first.epochs > 1, attempts: query.attempts });
}

function address(item) {
  return item.attempt > 0 ? link("trial", run, item, write(query)) : null;
}

function counted(total) {
  const all = narrows(query) ? " of " + count(first.card.planned) : "";
  byId("shown").textContent = count(total) + (query.attempts ? " attempts" : all);
}

function nothing() {
  const reset = h("button", { type: "button", onclick: () => change(cleared()) }, "Show all trials");
  return h("div", { class: "empty" }, h("strong", {}, "No trial matches"), narrows(query) ? reset : "Nothing was planned.");
}

function cleared() {
  const next = { ...query, q: "" };
  for (const name of LISTS) next[name] = [];
  return next;
}

// Another list is a step of its own on the way back, which leads to where the last one stood.
function remember(types) {
  const text = write(query);
  const address = text ? "?" + text : window.location.pathname;
  const same = text === write(parse(window.location.search));
  try {
    if (same || (types && typing)) {
      window.history.replaceState({ ...(window.history.state || {}), index: list.index }, "", address);
    } else {
      window.history.replaceState({ index: list.index, y: window.scrollY }, "");
      window.history.pushState({ index: -1 }, "", address);
    }
  } catch (_) {
    // A browser may forbid it for files: then the address stays.
  }
  typing = types;
}

function goneBack(event) {
  query = parse(window.location.search);
  typing = false;
  place = event.state;
  byId("search").value = query.q;
  controls();
  ask();
}

function restore({ index, y }) {
  if (y !== undefined) window.scrollTo({ top: y, behavior: "instant" });
  if (index >= 0) list.pick(index, { focus: false, scroll: false });
}

// So that the way back leads to the same row.
function opened(index) {
  list.pick(index, { focus: false, scroll: false });
  window.history.replaceState({ index, y: window.scrollY }, "");
}

function change(next, how) {
  query = next;
  place = null;
  controls();
  remember(Boolean(how && how.types));
  ask();
}

function controls() {
  filters.draw(query);
  const search = byId("search");
  if (document.activeElement !== search) search.value = query.q;
  heads();
  const next = byId("to-review");
  if (next) next.href = link("review", run, write(query));
  for (const one of document.querySelectorAll("#overview .matrix a[data-filter]")) {
    const wanted = parse(one.dataset.filter);
    const on = LISTS.every((name) => wanted[name].join() === query[name].join()) && narrows(query);
    one.classList.toggle("on", on);
  }
}

// Only where they are others than before: somebody may be about to click one.
function heads() {
  const those = JSON.stringify([shown().map((one) => one.name), query.sort, query.desc]);
  if (those === headed) return;
  headed = those;
  const held = document.activeElement && document.activeElement.dataset.sort;
  const place = byId("heads");
  fill(place, head(shown(), query, (sort, desc) => change({ ...query, sort, desc })));
  const widths = template(shown());
  const { style } = document.querySelector(".trials");
  if (style.getPropertyValue("--trial-columns") !== widths) {
    style.setProperty("--trial-columns", widths);
    list.redraw();
  }
  const again = held && place.querySelector('[data-sort="' + held + '"]');
  if (again) again.focus();
}

async function beginning() {
  const since = told;
  return { since, page: await get("/runs/" + run + "/trials", { ...params(query), offset: 0, limit: 100 }) };
}

const ask = latest(beginning, ({ since, page }) => {
  list.show(page);
  if (since !== told) refreshList();
  if (place) restore(place);
  else toTop();
  say(count(page.total) + " trials");
}, (error) => {
  byId("shown").textContent = error.message;
});

// Another list is read from its beginning.
function toTop() {
  const over = byId("rows").getBoundingClientRect().top - byId("heads").getBoundingClientRect().bottom;
  if (over < 0) window.scrollBy({ top: over, behavior: "instant" });
}

// Whether the lower charts are open is a matter of taste, not of the run.
function more() {
  const details = document.querySelector("#overview details.more");
  if (!details) return;
  details.open = kept("agon-more") === "open";
  details.addEventListener("toggle", () => keep("agon-more", details.open ? "open" : "shut"));
}

// What was narrowed down by a click above must be seen to change.
function reveal() {
  const below = byId("rows").getBoundingClientRect().top + 8 * HEIGHT - window.innerHeight;
  if (below > 0) window.scrollBy({ top: below, behavior: "instant" });
}

function facets() {
  const element = document.querySelector("#overview .facets");
  filters.know(element ? JSON.parse(element.textContent) : {});
}

async function overviewAgain() {
  const piece = await fragment(link("run", run) + "/overview");
  const place = byId("overview");
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.filter : undefined;
  const scrolled = [...place.querySelectorAll(".scroll")].map((one) => one.scrollTop);
  place.replaceChildren(piece);
  [...place.querySelectorAll(".scroll")].forEach((one, at) => (one.scrollTop = scrolled[at] || 0));
  const again = held !== undefined && [...place.querySelectorAll("[data-filter]")].find((one) => one.dataset.filter === held);
  if (again) again.focus({ preventScroll: true });
  more();
  facets();
  controls();
  overviewIsOld();
}

// Adding up takes time: while a run goes on, it is not done for every trial.
function overviewIsOld() {
  const part = byId("overview").querySelector("[data-revision]");
  if (live && capabilities.live && part && Number(part.dataset.revision) < revision) refreshOverview();
}

// At most once in `every` ms, and once more if it was asked for in between. What fails is asked for again.
function paced(every, work) {
  let wanted = false;
  let waiting = false;
  let next = 0;
  const ask = () => {
    wanted = true;
    if (waiting) return;
    waiting = true;
    window.setTimeout(async () => {
      wanted = false;
      let rest = every;
      try {
        await work();
      } catch (_) {
        wanted = true;
        rest = Math.max(every, RETRY);
      }
      next = performance.now() + rest;
      waiting = false;
      if (wanted) ask();
    }, Math.max(0, next - performance.now()));
  };
  return ask;
}

const refreshList = paced(LIST_EVERY, () => list.again());
const refreshOverview = paced(OVERVIEW_EVERY, overviewAgain);

function changed() {
  told += 1;
  refreshList();
  refreshOverview();
}

function progress(now) {
  const state = now.live ? "live" : now.missing === 0 ? "complete" : "stopped";
  fill(byId("state"), badge(state));
  byId("state").firstChild.classList.add("boxed");
  const ended = now.passed + now.failed + now.faulted;
  filters.alive(now.live);
  byId("progress").textContent = now.live ? count(ended) + " of " + count(now.planned) + " trials, " + count(now.running.length) + " running" : "";
  const screens = byId("to-live");
  if (screens) {
    screens.hidden = !now.live;
    byId("running").textContent = now.running.length > 0 ? count(now.running.length) : "";
  }
  const ends = live && !now.live;
  live = now.live;
  // What begins is told without a result.
  const begun = now.running.map((one) => [one.task, one.epoch, one.attempt, one.began].join(" ")).join("\n");
  const others = begun !== playing;
  playing = begun;
  if (now.revision > revision || ends || others) {
    revision = Math.max(revision, now.revision);
    changed();
  }
}

// After a break another viewer may answer, which counts anew.
function listening() {
  if (connected) revision = -1;
  connected = true;
}

// The head of the table stands below the filters, however many lines these take.
function headHeight() {
  const section = document.querySelector(".trials");
  const height = () => section.style.setProperty("--filters", byId("filters").offsetHeight + "px");
  new ResizeObserver(height).observe(byId("filters"));
  height();
}

function begin() {
  const state = byId("state");
  fill(state, badge(state.dataset.state));
  state.firstChild.classList.add("boxed");
  for (const one of document.querySelectorAll("[data-when]")) {
    one.textContent = when(one.dataset.when);
    one.title = one.dataset.when;
  }
  more();
  filters.alive(first.card.state === "live");
  facets();
  byId("search").value = query.q;
  controls();
  headHeight();
  // A page that is a file does not know its own address.
  if (write(query) === write(first.query)) list.show(first.page);
  else ask();
  overviewIsOld();
  const back = window.history.state;
  const restored = window.performance.getEntriesByType("navigation").some((one) => one.type === "back_forward");
  if (back && restored && back.index >= 0) {
    if (back.y !== undefined) window.scrollTo({ top: back.y, behavior: "instant" });
    list.pick(back.index, { focus: true, scroll: false });
  }
  byId("search").addEventListener("input", () => change({ ...query, q: byId("search").value }, { types: true }));
  document.addEventListener("click", (event) => {
    const filter = event.target instanceof Element && event.target.closest("a[data-filter]");
    if (!filter || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const wanted = parse(filter.dataset.filter);
    const same = LISTS.every((name) => wanted[name].join() === query[name].join());
    const next = cleared();
    for (const name of LISTS) next[name] = same ? [] : wanted[name];
    change({ ...next, q: query.q });
    reveal();
  });
  // Who asks for the next trial to review wants to review it.
  const review = byId("to-review");
  if (review) review.addEventListener("click", () => keepHere("agon-tab", "Review"));
  window.addEventListener("popstate", goneBack);
  feed(run, { open: listening, progress, trial: changed, review: changed });
}

bind(["j", "ArrowDown"], "Next trial", () => list.step(1), { group: "Trials" });
bind(["k", "ArrowUp"], "Previous trial", () => list.step(-1), { group: "Trials" });
bind("Enter", "Open the trial", () => list.item && address(list.item) && window.location.assign(address(list.item)), { group: "Trials" });
bind("/", "Search", () => byId("search").focus(), { group: "Trials" });
bind("x", "Show all trials", () => change(cleared()), { group: "Trials" });
if (capabilities.review) bind("n", "Next unreviewed trial", () => byId("to-review").click(), { group: "Trials" });
if (capabilities.live) bind("l", "Live screens", () => window.location.assign(link("live", run)), { group: "Trials" });

begin();
ready();
