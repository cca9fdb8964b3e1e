// The page of running trials: a tile for each, its screen as it changes or its last command with the end of
// what that printed, and how much of its limits is used; an operator can stop one. A tile comes when a trial
// begins and goes when it has ended.

import { badge, byId, data, fill, h, lines, plain, say, sign, ready } from "./dom.js";
import { count, counted, duration, words } from "./format.js";
import { bind } from "./keys.js";
import { capabilities, feed, link, picture } from "./source.js";
import { StopButton } from "./stopping.js";

// From one picture of a tile to the next, in ms: a screen that changes all the time must not fill the line.
const REST = 150;
// How long a tile stays after its trial has ended, and is known to have come to something. What it came to may be
// told a few seconds later, or never.
const STAYS = 4000;
const WAITS = 10000;
// A picture that can't be had is asked for again so often, and after this long.
const TRIES = 3;
const RETRY = 2000;
const MOST_ENDED = 12;

const page = data();
const run = page.run;
const tiles = new Map();

function nameOf(key) {
  return key.task + " " + key.epoch + " " + key.attempt;
}

class Tile {
  constructor(moment) {
    this.moment = moment;
    this.ended = 0;
    this.shown = "";
    this.loading = false;
    this.next = 0;
    this.failed = 0;
    const open = link("trial", run, moment);
    this.image = h("img", { alt: "", hidden: true, decoding: "async", draggable: "false" });
    this.last = h("span", { class: "tile-last" });
    this.output = h("span", { class: "tile-output" });
    this.screen = h("a", { class: "tile-screen", href: open, tabindex: "-1" }, this.image, h("span", { class: "words" }, this.last, this.output));
    this.name = h("a", { class: "clip", href: open, title: plain(moment.name) }, plain(moment.name));
    this.phase = h("span", { class: "tag" });
    this.stop = new StopButton(() => ({ run, key: this.moment, began: this.moment.began, name: this.moment.name, stopped: () => stopping(this.moment) }));
    this.stop.element.setAttribute("aria-label", "Stop " + plain(moment.name));
    this.does = h("p", { class: "tile-does" });
    this.steps = meter("Step");
    this.time = meter("Time");
    const which = moment.task + (moment.epoch > 1 ? " · epoch " + moment.epoch : "") + (moment.attempt > 1 ? " · attempt " + moment.attempt : "");
    this.element = h(
      "li",
      { class: "tile", "aria-label": plain(moment.name) },
      h("div", { class: "tile-head" }, h("div", { class: "tile-name" }, this.name, h("span", { class: "small clip" }, plain(which))), this.phase, capabilities.stop && this.stop.element),
      this.screen,
      this.does,
      h("div", { class: "tile-foot" }, this.steps.element, this.time.element),
    );
    this.draw();
  }

  // Moments may come twice, and an older one after a newer one when the line was cut.
  take(moment) {
    if (moment.read < this.moment.read && moment.began === this.moment.began) return;
    moment.stopping = moment.stopping || (this.moment.stopping && moment.began === this.moment.began);
    this.moment = moment;
    this.draw();
  }

  draw() {
    const moment = this.moment;
    this.phase.textContent = moment.stopping ? "stopping" : plain(words(moment.phase));
    this.phase.className = moment.stopping ? "tag warn" : "tag";
    this.stop.set(moment);
    const does = moment.brief || (moment.phase === "setup" ? "is being set up" : moment.step ? "plays by itself" : "no action yet");
    this.does.textContent = plain(does);
    this.does.title = plain(does);
    this.last.textContent = plain(does);
    this.last.title = plain(does);
    fill(this.output, moment.output ? lines(moment.output).split("\n").map((line) => h("span", {}, line)) : null);
    this.label();
    // So many that nobody counts on it: no limit.
    const most = moment.steps < 1000000 ? moment.steps : 0;
    this.steps.set(most ? count(moment.step) + " of " + count(most) : count(moment.step), most ? moment.step / most : 0);
    this.tick();
    this.look();
  }

  // A picture has no words of its own.
  label() {
    if (this.image.hidden) this.screen.removeAttribute("aria-label");
    else this.screen.setAttribute("aria-label", "Screen of " + plain(this.moment.name) + ": " + this.does.textContent);
  }

  tick() {
    if (this.ended) return;
    const seconds = Math.max(0, (Date.now() - Date.parse(this.moment.began)) / 1000);
    const whole = (number) => duration(number < 120 ? Math.floor(number) : number).replace(/\.0+ s$/, " s").replace(/ min 0 s$/, " min");
    const limit = this.moment.seconds;
    this.time.set(limit ? whole(seconds) + " of " + whole(limit) : whole(seconds), limit ? seconds / limit : 0);
  }

  // Shows the newest screen; those that came while one was loaded are passed over.
  look() {
    const shot = this.moment.shot;
    if (!shot || shot === this.shown || this.loading) return;
    const wait = this.next - performance.now();
    this.loading = true;
    window.setTimeout(() => this.load(this.moment.shot), Math.max(0, wait));
  }

  load(shot) {
    this.next = performance.now() + REST;
    const fresh = new Image();
    fresh.alt = "";
    fresh.draggable = false;
    fresh.src = picture(run, shot);
    const done = (loaded) => {
      this.loading = false;
      if (!loaded && this.failed + 1 < TRIES) {
        this.failed += 1;
        this.next = performance.now() + RETRY;
      } else {
        this.failed = 0;
        this.shown = shot;
      }
      if (loaded) {
        fresh.dataset.shot = shot;
        this.image.replaceWith(fresh);
        this.image = fresh;
        this.label();
        this.screen.style.aspectRatio = fresh.naturalWidth + " / " + fresh.naturalHeight;
      }
      if (!this.left) this.look();
    };
    fresh.decode().then(() => done(true), () => done(false));
  }

  end(row) {
    const first = !this.ended;
    if (first || row) {
      window.clearTimeout(this.ended);
      this.ended = window.setTimeout(() => this.leave(), row ? STAYS : WAITS);
    }
    if (first) {
      this.element.classList.add("over");
      this.phase.textContent = this.moment.stopping ? "stopped" : "ended";
      this.phase.className = "tag";
      this.stop.element.hidden = true;
      this.stop.over();
    }
    const old = this.element.querySelector(".tile-over");
    if (old && !row) return;
    const over = h("div", { class: "tile-over" }, row ? badge(row.state) : h("span", null, "ended"));
    if (old) old.replaceWith(over);
    else this.screen.append(over);
  }

  leave() {
    window.clearTimeout(this.ended);
    this.left = true;
    const key = nameOf(this.moment);
    if (tiles.get(key) === this) tiles.delete(key);
    const focused = this.element.contains(document.activeElement);
    const other = this.element.nextElementSibling || this.element.previousElementSibling;
    this.element.remove();
    if (focused && other) other.querySelector(".tile-name a").focus();
    arrange();
  }
}

function meter(label) {
  const figure = h("span", null);
  const fillOf = h("i", { class: "f-accent" });
  const element = h("div", null, h("div", { class: "small" }, h("span", { class: "soft" }, label), figure), h("span", { class: "meter", "aria-hidden": "true" }, fillOf));
  return {
    element,
    set(text, share) {
      figure.textContent = text;
      fillOf.style.width = Math.min(100, share * 100).toFixed(1) + "%";
      fillOf.className = share >= 0.9 ? "f-faulted" : "f-accent";
    },
  };
}

function show(moment) {
  const key = nameOf(moment);
  const known = tiles.get(key);
  if (known && !known.ended) {
    known.take(moment);
    return;
  }
  if (known) known.leave();
  const tile = new Tile(moment);
  tiles.set(key, tile);
  // In the place of one that has ended, so that the others stay where they are.
  const free = [...tiles.values()].find((one) => one.ended && !one.element.contains(document.activeElement));
  if (free) {
    free.element.before(tile.element);
    free.leave();
  } else {
    byId("tiles").append(tile.element);
  }
}

function arrange() {
  const many = tiles.size;
  byId("tiles").dataset.size = many <= 1 ? "one" : many <= 4 ? "few" : "many";
  byId("nothing").hidden = many > 0;
}

function progressed(now) {
  const running = new Set(now.running.map(nameOf));
  for (const [key, tile] of tiles) if (!running.has(key) && !tile.ended) tile.end(null);
  now.running.forEach(show);
  const live = now.live;
  const done = now.passed + now.failed + now.faulted;
  fill(byId("state"), badge(live ? "live" : now.missing ? "stopped" : "complete"));
  byId("tally").textContent = count(done) + " of " + counted(now.planned, "trial");
  const playing = Math.min(now.running.length, now.missing);
  const parts = [["passed", now.passed], ["failed", now.failed], ["faulted", now.faulted], ["running", playing], ["missing", now.missing - playing]];
  const bar = parts.map(([state, number]) => h("i", { class: "f-" + state, style: { width: (now.planned ? (number / now.planned) * 100 : 0) + "%" } }));
  fill(byId("bar"), bar);
  const word = (state) => (state === "missing" ? "to come" : state);
  fill(byId("legend"), parts.filter(([, number]) => number > 0).map(([state, number]) => h("span", { class: "is-" + state }, sign(state), count(number) + " " + word(state))));
  const why = live
    ? [h("strong", null, "Nothing to be seen right now"), "A trial is shown here once it has lasted a second."]
    : [h("strong", null, "Nobody plays this run"), h("a", { href: link("run", run) }, "See its results")];
  fill(byId("nothing"), why);
  arrange();
}

function ended(row) {
  const tile = tiles.get(nameOf(row));
  if (tile) tile.end(row);
  const list = byId("ended");
  const took = row.seconds ? row.seconds.agent + row.seconds.environment + row.seconds.harness : null;
  list.prepend(h("li", null, badge(row.state), h("a", { href: link("trial", run, row), title: plain(row.task) }, plain(row.name)), h("span", { class: "soft" }, duration(took)), h("span", { class: "soft", title: plain(row.why) }, plain(row.why))));
  while (list.children.length > MOST_ENDED) list.lastElementChild.remove();
  byId("lately").hidden = false;
  say(plain(row.name) + ": " + plain(row.state));
}

function stopping(key) {
  const tile = tiles.get(nameOf(key));
  // The answer to who asked for it may come after its end.
  if (tile && !tile.ended) tile.take({ ...tile.moment, stopping: true });
}

function shown(moment) {
  show(moment);
  arrange();
}

// The tile that has the focus, or the one `by` places after it.
function tileAt(by) {
  const all = [...byId("tiles").children];
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const to = at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by));
  return by === 0 && at < 0 ? null : all[to];
}

function step(by) {
  const to = tileAt(by);
  if (!to) return;
  to.querySelector(".tile-name a").focus();
  to.scrollIntoView({ block: "nearest" });
}

bind("j", "Next trial", () => step(1), { group: "Live" });
bind("k", "Previous trial", () => step(-1), { group: "Live" });
bind("s", "Stop the trial", () => {
  const at = tileAt(0);
  const tile = [...tiles.values()].find((one) => one.element === at);
  if (tile && capabilities.stop && !tile.ended) tile.stop.ask();
}, { group: "Live" });
progressed(page.progress);
feed(run, { progress: progressed, moment: shown, trial: ended, stopping });
window.setInterval(() => tiles.forEach((tile) => tile.tick()), 1000);
ready();
