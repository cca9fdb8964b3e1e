// One task as several runs played it: screens and steps in columns that move together, by step or by time.
import { badge, byId, data, fill, h, plain, say, ready } from "./dom.js";
import { stamp } from "./blocks.js";
import { counted, duration, money, percent } from "./format.js";
import { bind } from "./keys.js";
import { Pictures, Screen } from "./picture.js";
import { stepEvents } from "./step.js";
import { StepIndex, Timeline } from "./timeline.js";
import { file, get, link, picture, thumb } from "./source.js";

const SYNCS = { step: "By step", time: "By time", free: "Alone" };

// What the column of a run shows: one attempt, at one step.
class Side {
  constructor(side, task, moved) {
    Object.assign(this, { side, task, moved });
    this.n = 0;
    this.turn = 0;
    this.pictures = new Pictures((digest) => picture(side.run, digest));
    this.element = h("section", { class: "lane", "aria-label": "Run " + side.sign });
    this.build(side.attempts[0], side.head, side.steps);
  }

  address(rest) {
    const { epoch, attempt } = this.key;
    const task = this.task.split("/").map(encodeURIComponent).join("/");
    return "/runs/" + encodeURIComponent(this.side.run) + "/trial/" + task + "/" + epoch + "/" + attempt + rest;
  }

  build(choice, head, steps) {
    this.index = null;
    this.shown = false;
    if (!choice || !head || !steps) {
      const why = !this.side.planned ? "This task is not in the plan of this run." : choice ? "The record of this trial can't be read." : "This run has no result of this task yet.";
      fill(this.element, this.title(null, choice), h("p", { class: "empty" }, why));
      return;
    }
    this.key = { task: this.task, epoch: choice.epoch, attempt: choice.attempt };
    this.head = head;
    this.index = new StepIndex(steps, (from, number) => get(this.address("/steps"), { from, count: Math.min(500, number) }));
    this.screen = head.screen ? new Screen(this.pictures) : null;
    this.events = h("div", { class: "lane-events", tabindex: "0", role: "group", "aria-label": "Step of run " + this.side.sign });
    const body = h("div", {});
    const scroller = h("div", { class: "lane-steps", tabindex: "0", role: "group", "aria-label": "Steps of run " + this.side.sign }, body);
    fill(this.element, this.title(head, choice), this.screen ? this.screen.element : null, scroller, this.events);
    this.element.classList.toggle("pictured", Boolean(this.screen));
    this.list = new Timeline({
      body,
      scroller,
      index: this.index,
      pictures: false,
      thumb: (digest) => thumb(this.side.run, digest),
      href: (n) => link("trial", this.side.run, this.key, "", n),
      pick: (n) => this.moved(this, n),
    });
  }

  title(head, choice) {
    const { run, sign, agent, models, attempts } = this.side;
    const key = choice ? { task: this.task, epoch: choice.epoch, attempt: choice.attempt } : null;
    this.open = key ? h("a", { href: link("trial", run, key, "", this.n), title: "The trial at this step" }, "Open") : null;
    const epochs = attempts.length < 2 ? null : h("select", { "aria-label": "Epoch of run " + sign, onchange: (event) => this.choose(attempts[Number(event.target.value)]) },
      attempts.map((one, at) => h("option", { value: at, selected: one === choice }, "epoch " + one.epoch + (one.outcome ? ", " + one.outcome : ""))));
    return h("header", { class: "lane-head" },
      h("div", { class: "spread" }, h("span", { class: "run-sign" }, sign), h("strong", { class: "clip" }, plain(models[0] || agent)), head ? badge(head.state) : null, epochs, h("span", { class: "grow" }), this.open),
      h("p", { class: "soft small clip" }, h("a", { href: link("run", run) }, plain(run)), head ? " · " + facts(head) : ""),
      h("p", { class: "lane-why small clip", title: head ? plain(head.why) : null }, head ? plain(head.why) : ""));
  }

  async choose(choice) {
    this.key = { task: this.task, epoch: choice.epoch, attempt: choice.attempt };
    const turn = ++this.turn;
    const known = await Promise.all([get(this.address("")), get(this.address("/steps"), { from: 0, count: 200 })]).catch(() => [null, null]);
    if (turn !== this.turn) return;
    this.n = 0;
    this.build(choice, known[0], known[1]);
    if (this.index) this.moved(this, 0);
  }

  // Shows a step. One that was asked for later wins.
  async go(n) {
    if (!this.index) return;
    const at = Math.max(0, Math.min(n, this.index.total - 1));
    const turn = ++this.turn;
    this.n = at;
    this.list.select(at);
    this.open.href = link("trial", this.side.run, this.key, "", at);
    let step;
    try {
      step = await get(this.address("/steps/" + at));
    } catch (error) {
      if (turn === this.turn) fill(this.events, h("p", { class: "soft" }, plain(error.message)));
      return;
    }
    if (turn !== this.turn) return;
    fill(this.events, stepEvents(step, this.context()));
    this.events.scrollTop = 0;
    if (!this.screen) return;
    const acted = step.events.find((event) => event.kind === "action");
    const [shot, other] = mode === "before" ? [step.before, step.after] : [step.after, step.before];
    const alt = "Screen of run " + this.side.sign + " " + mode + " step " + at;
    this.screen.show({ shot: shot || other, other: step.before, action: acted ? acted.action : null, mode, alt });
  }

  context() {
    return {
      go: (n) => this.moved(this, n),
      thumb: (digest) => thumb(this.side.run, digest),
      picture: (digest) => picture(this.side.run, digest),
      file: (digest) => file(this.side.run, digest),
      event: (seq) => get(this.address("/events/" + seq)),
      said: (seq, which) => get(this.address("/events/" + seq + "/" + which)),
    };
  }

  time(n) {
    const row = this.index && this.index.at(n);
    return row ? row.t : 0;
  }
}

function facts(head) {
  const spent = head.usage && head.usage.money;
  const known = [head.score === null ? null : percent(head.score), counted(head.steps, "step"), duration(head.duration)];
  if (spent !== null && spent !== undefined) known.push(money(spent / 1e6));
  return known.filter(Boolean).join(" · ");
}

const given = data();
const sides = given.sides.map((side) => new Side(side, given.task, moved));
const live = () => sides.filter((side) => side.index);
let sync = start();
let mode = "before";
let at = 0;

function start() {
  const said = new URLSearchParams(window.location.search);
  return SYNCS[said.get("sync")] ? said.get("sync") : "step";
}

// How far all can go: steps, or milliseconds.
function most() {
  const each = live().map((side) => (sync === "time" ? Math.ceil(side.head.duration * 1000) : side.index.total - 1));
  return Math.max(0, ...each);
}

function show(place) {
  at = Math.max(0, Math.min(place, most()));
  for (const side of live()) {
    const n = sync === "time" ? side.index.when(at / 1000) : at;
    const last = Math.min(n, side.index.total - 1);
    if (last !== side.n || !side.shown) side.go(last);
    side.shown = true;
  }
  tell();
  write();
}

function tell() {
  const slider = byId("place");
  slider.max = most();
  slider.value = at;
  slider.disabled = sync === "free";
  const where = sync === "time" ? stamp(at / 1000) + " of " + stamp(most() / 1000) : sync === "step" ? "step " + at + " of " + most() : "";
  slider.setAttribute("aria-valuetext", where);
  fill(byId("where"), where);
  for (const one of byId("sync").children) one.setAttribute("aria-pressed", String(one.dataset.sync === sync));
}

function write() {
  const said = new URLSearchParams(window.location.search);
  said.set("sync", sync);
  said.set("at", String(at));
  window.history.replaceState(null, "", "?" + said);
}

// A step was chosen in one column: the others follow.
function moved(side, n) {
  if (sync === "free") {
    side.go(n);
    return;
  }
  show(sync === "time" ? Math.ceil(side.time(n) * 1000) : n);
}

// By time: to where the next step of any column begins.
function on(by) {
  if (sync === "free") {
    for (const side of live()) side.go(side.n + by);
    return;
  }
  if (sync === "step") {
    show(at + by);
    return;
  }
  const times = live().map((side) => {
    const n = side.index.when(at / 1000);
    return by > 0 ? (n + 1 < side.index.total ? Math.ceil(side.time(n + 1) * 1000) : most()) : Math.ceil(side.time(Math.ceil(side.time(n) * 1000) < at ? n : n - 1) * 1000);
  });
  const further = times.filter((time) => (by > 0 ? time > at : time < at));
  show(further.length ? (by > 0 ? Math.min(...further) : Math.max(...further)) : by > 0 ? most() : 0);
}

function flip(name) {
  mode = name;
  for (const one of byId("mode").children) one.setAttribute("aria-pressed", String(one.dataset.mode === mode));
  for (const side of live()) side.go(side.n);
}

function turn(name) {
  const first = live()[0];
  const n = first ? first.n : 0;
  sync = name;
  say("Columns move " + SYNCS[name].toLowerCase());
  show(name === "time" && first ? Math.ceil(first.time(n) * 1000) : n);
}

async function begin() {
  fill(byId("sides"), sides.map((side) => side.element));
  byId("sides").style.gridTemplateColumns = "repeat(" + sides.length + ", minmax(420px, 1fr))";
  fill(byId("sync"), Object.entries(SYNCS).map(([name, label]) => h("button", { type: "button", dataset: { sync: name }, onclick: () => turn(name) }, label)));
  if (live().some((side) => side.screen)) {
    fill(byId("mode"), ["before", "after"].map((name) => h("button", { type: "button", dataset: { mode: name }, "aria-pressed": String(name === mode), onclick: () => flip(name) }, name === "before" ? "Before" : "After")));
    bind("b", "Screens before or after the step", () => flip(mode === "before" ? "after" : "before"), { group: "Steps" });
  }
  const slider = byId("place");
  slider.addEventListener("input", () => show(Number(slider.value)));
  byId("previous").addEventListener("click", () => on(-1));
  byId("next").addEventListener("click", () => on(1));
  const group = { group: "Steps" };
  bind("ArrowRight", "Next step", () => on(1), group);
  bind("ArrowLeft", "Previous step", () => on(-1), group);
  bind("Home", "First step", () => show(0), group);
  bind("End", "Last step", () => show(most()), group);
  bind("s", "Together by step, by time, or alone", () => {
    const names = Object.keys(SYNCS);
    turn(names[(names.indexOf(sync) + 1) % names.length]);
  }, group);
  const said = Number(new URLSearchParams(window.location.search).get("at"));
  show(Number.isInteger(said) && said > 0 ? said : 0);
  // Where a time is can be told once all steps are known.
  await Promise.all(live().map((side) => side.index.all()));
  live().forEach((side) => side.list.grown());
}

begin();
ready();
