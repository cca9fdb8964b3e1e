// One task as several runs played it: screens and steps in columns that move together, by step or by time. What
// was played in real time without actions has frames in place of steps.
import { badge, byId, data, fill, h, plain, say, ready } from "./dom.js";
import { stamp } from "./blocks.js";
import { counted, duration, money, percent } from "./format.js";
import { bind } from "./keys.js";
import { momentView } from "./moment.js";
import { Pictures, Screen } from "./picture.js";
import { stepEvents } from "./step.js";
import { FrameIndex, StepIndex, Timeline } from "./timeline.js";
import { lastBefore } from "./times.js";
import { file, get, link, picture, thumb } from "./source.js";

const SYNCS = { step: "By step", time: "By time", free: "Alone" };

// What the column of a run shows: one attempt, at one step.
class Side {
  constructor(side, task, moved) {
    Object.assign(this, { side, task, moved });
    this.n = 0;
    this.turn = 0;
    // Which attempt was chosen last: what was fetched of another one is not shown any more.
    this.choice = 0;
    this.pictures = new Pictures((digest) => picture(side.run, digest));
    this.element = h("section", { class: "lane", "aria-label": "Run " + side.sign });
    this.build(side.attempts[0], side.head, side.steps);
  }

  address(rest, { epoch, attempt } = this.key) {
    const task = this.task.split("/").map(encodeURIComponent).join("/");
    return "/runs/" + encodeURIComponent(this.side.run) + "/trial/" + task + "/" + epoch + "/" + attempt + rest;
  }

  build(choice, head, steps, track = null) {
    this.index = null;
    this.shown = false;
    this.track = track && track.frames.length ? track : null;
    this.frames = Boolean(this.track && head.acted === 0);
    if (!choice || !head || !steps) {
      const why = !this.side.planned ? "This task is not in the plan of this run." : choice ? "The record of this trial can't be read." : "This run has no result of this task yet.";
      fill(this.element, this.title(null, choice), h("p", { class: "empty" }, why));
      return;
    }
    const key = { task: this.task, epoch: choice.epoch, attempt: choice.attempt };
    this.key = key;
    this.head = head;
    this.index = this.frames ? new FrameIndex(this.track) : new StepIndex(steps, (from, number) => get(this.address("/steps", key), { from, count: Math.min(500, number) }));
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
      href: (n) => this.href(n),
      pick: (n) => this.moved(this, n),
    });
  }

  href(n) {
    if (!this.frames) return link("trial", this.side.run, this.key, "", n);
    return link("trial", this.side.run, this.key, "", 0) + "&t=" + this.time(n).toFixed(3);
  }

  // Frames of a play in real time; without them its steps are shown.
  async film(choice) {
    return get(this.address("/track", choice)).catch(() => null);
  }

  // Takes in what the page was not sent with.
  async join() {
    const { attempts, head, steps } = this.side;
    if (!this.index || !head.realtime) return;
    const track = await this.film(attempts[0]);
    if (track && this.choice === 0) this.build(attempts[0], head, steps, track);
  }

  // Where a time is can be told once all steps are known.
  async learn() {
    const { index, list } = this;
    // What is not known is asked for again where it is looked at.
    await index.all().catch(() => false);
    list.grown();
    return index === this.index;
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
    const wanted = ++this.choice;
    const [head, steps] = await Promise.all([get(this.address("", choice)), get(this.address("/steps", choice), { from: 0, count: 200 })]).catch(() => [null, null]);
    const track = head && head.realtime ? await this.film(choice) : null;
    if (wanted !== this.choice) return;
    this.n = 0;
    // What is still on its way is of the attempt before.
    this.turn += 1;
    this.build(choice, head, steps, track);
    if (!this.index) return;
    this.moved(this, 0);
    if (await this.learn()) again();
  }

  // Shows a step, or a frame; by time, a trial in real time shows the frame of that moment. One that was asked
  // for later wins.
  async go(n, t) {
    if (!this.index) return;
    this.t = t;
    const at = Math.max(0, Math.min(n, this.index.total - 1));
    const turn = ++this.turn;
    this.n = at;
    this.list.select(at);
    this.open.href = this.href(at);
    if (this.frames) {
      fill(this.events, momentView(this.track, at));
      this.events.scrollTop = 0;
      this.frame(at);
      return;
    }
    this.atTime(t);
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
    if (!this.screen || this.isFilmed(t)) return;
    const acted = step.events.find((event) => event.kind === "action");
    const [shot, other] = mode === "before" ? [step.before, step.after] : [step.after, step.before];
    const alt = "Screen of run " + this.side.sign + " " + mode + " step " + at;
    this.screen.show({ shot: shot || other, other: step.before, action: acted ? acted.action : null, mode, alt });
  }

  isFilmed(t) {
    return Boolean(this.track) && t !== undefined;
  }

  atTime(t) {
    this.t = t;
    if (this.isFilmed(t)) this.frame(Math.max(0, lastBefore(this.track.frames, t + 1e-6)));
  }

  frame(at) {
    if (!this.screen) return;
    const [t, blob] = this.track.frames[at];
    const [width, height] = this.head.screen;
    const shot = { picture: { blob: this.track.blobs[blob] }, width, height, cursor: null, t };
    this.screen.show({ shot, mode: "after", alt: "Screen of run " + this.side.sign + " at " + stamp(t) });
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

// A file holds all runs of an export, and its address names those that are wanted.
function narrowed(all) {
  const wanted = new URLSearchParams(window.location.search).getAll("run");
  const sides = all.sides.filter((side) => wanted.includes(side.run));
  if (sides.length < 2 || sides.length === all.sides.length) return all;
  const back = link("compare", sides.map((side) => side.run));
  for (const way of document.querySelectorAll(".sides-bar a.button, .crumbs li:nth-last-child(2) a")) way.href = back;
  return { ...all, sides: sides.map((side, at) => ({ ...side, sign: String.fromCharCode(65 + at) })) };
}

const given = narrowed(data());
const sides = given.sides.map((side) => new Side(side, given.task, moved));
const live = () => sides.filter((side) => side.index);
let sync = start();
let mode = "before";
let at = 0;

function start() {
  const said = new URLSearchParams(window.location.search);
  if (SYNCS[said.get("sync")]) return said.get("sync");
  // Frames have numbers that say nothing, and a time that does.
  return live().length && live().every((side) => side.head.realtime) ? "time" : "step";
}

// How far all can go: steps, or milliseconds.
function most() {
  const each = live().map((side) => (sync === "time" ? Math.ceil(side.head.duration * 1000) : side.index.total - 1));
  return Math.max(0, ...each);
}

function show(place) {
  at = Math.max(0, Math.min(place, most()));
  for (const side of live()) {
    const t = sync === "time" ? at / 1000 : undefined;
    const n = t === undefined ? at : side.index.when(t);
    const last = Math.min(n, side.index.total - 1);
    if (last !== side.n || !side.shown) side.go(last, t);
    else if (!side.frames) side.atTime(t);
    side.shown = true;
  }
  tell();
  write();
}

// The same place, now that it is known which steps are there.
function again() {
  if (sync === "time") show(at);
}

// Between the start and the end there are as many steps as the longest has. Frames are counted from the first.
function stepWords() {
  const filmed = live().filter((side) => side.frames).length;
  if (filmed) return (filmed === live().length ? "frame " : "place ") + (at + 1) + " of " + (most() + 1);
  const steps = Math.max(0, ...live().map((side) => side.head.acted));
  return at === 0 ? "start" : at > steps ? "end" : "step " + at + " of " + steps;
}

function tell() {
  const slider = byId("place");
  slider.max = most();
  slider.value = at;
  slider.disabled = sync === "free";
  const where = sync === "time" ? stamp(at / 1000) + " of " + stamp(most() / 1000) : sync === "step" ? stepWords() : "";
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
  for (const side of live()) side.go(side.n, side.t);
}

function turn(name) {
  const first = live()[0];
  const n = first ? first.n : 0;
  sync = name;
  // A frame is shown where a step was, or the other way round.
  for (const side of live()) side.shown = side.shown && !side.track;
  say("Columns move " + SYNCS[name].toLowerCase());
  show(name === "time" && first ? Math.ceil(first.time(n) * 1000) : n);
}

async function begin() {
  fill(byId("sides"), sides.map((side) => side.element));
  byId("sides").style.gridTemplateColumns = "repeat(" + sides.length + ", minmax(420px, 1fr))";
  fill(byId("sync"), Object.entries(SYNCS).map(([name, label]) => h("button", { type: "button", dataset: { sync: name }, onclick: () => turn(name) }, label)));
  await Promise.all(sides.map((side) => side.join()));
  if (live().some((side) => side.screen && !side.frames)) {
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
  ready();
  await Promise.all(live().map((side) => side.learn()));
  again();
}

begin();
