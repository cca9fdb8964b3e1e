// Replays a trial in recorded time, faster or slower. Knows when steps began; what is shown at a moment is
// decided by whoever is told `at(t)`.
import { h, icon, keep, kept } from "./dom.js";
import { stamp } from "./blocks.js";
import { ink, onTheme } from "./ink.js";
import { lastBefore } from "./times.js";
import { wrong } from "./timeline.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
// Longer than this nothing happens: idle.
const IDLE = 1;

const PLAY = "M4 2.500v11l9.500-5.500z";
const PAUSE = "M4 3h3v10H4zM9 3h3v10H9z";

export class Player {
  // `options`: {index, duration() in seconds, moments() -> times at which something happens (sorted), marked() ->
  // whether steps are marked on the scrubber: an axis above it has them on its own scale, at(t),
  // step(by), seekStep(n), changed(playing)}
  constructor(options) {
    this.options = options;
    this.t = 0;
    this.playing = false;
    this.speed = Number(kept("agon-speed", "1")) || 1;
    this.skips = kept("agon-skip-idle", "yes") === "yes";
    this.build();
    options.index.onChange(() => this.soonTicks());
    new ResizeObserver(() => this.ticks()).observe(this.scrub);
    onTheme(() => this.ticks());
  }

  build() {
    const { step, seekStep, index } = this.options;
    const button = (label, d, run, kind) => h("button", { type: "button", class: "icon " + (kind || ""), "aria-label": label, title: label, onclick: run }, icon(d));
    this.button = button("Play (space)", PLAY, () => this.toggle(), "play");
    this.range = h("input", { type: "range", min: "0", max: "1000", step: "any", value: "0", "aria-label": "Time", oninput: () => this.scrubbed() });
    this.canvas = h("canvas", { class: "scrub-ticks", "aria-hidden": "true" });
    this.scrub = h("div", { class: "scrub" }, this.canvas, this.range);
    this.label = h("output", { class: "player-time" });
    const speed = h("select", { class: "player-speed", "aria-label": "Speed", title: "Speed", onchange: () => this.setSpeed(Number(speed.value)) },
      SPEEDS.map((one) => h("option", { value: one, selected: one === this.speed }, "×" + one)));
    this.select = speed;
    const skip = h("input", { type: "checkbox", checked: this.skips, onchange: () => {
      this.skips = skip.checked;
      keep("agon-skip-idle", this.skips ? "yes" : "no");
    } });
    this.element = h("div", { class: "player", role: "group", "aria-label": "Replay" },
      button("First step (Home)", "M3 3h2v10H3zM13 3v10L6 8z", () => seekStep(0)),
      button("Previous step (←)", "M11 3v10L4 8z", () => step(-1)),
      this.button,
      button("Next step (→)", "M5 3v10l7-5z", () => step(1)),
      button("Last step (End)", "M11 3h2v10h-2zM3 3v10l7-5z", () => seekStep(index.total - 1)),
      this.scrub, this.label, speed,
      h("label", { class: "player-skip", title: "Waits of more than a second are cut short" }, skip, "Skip idle"));
  }

  setSpeed(speed) {
    this.speed = speed;
    this.select.value = String(speed);
    keep("agon-speed", String(speed));
  }

  faster(by) {
    const at = SPEEDS.indexOf(this.speed) + by;
    if (SPEEDS[at]) this.setSpeed(SPEEDS[at]);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.playing) return;
    if (this.t >= this.options.duration() - 0.01) this.t = 0;
    this.playing = true;
    this.last = performance.now();
    this.since = this.t;
    this.mark();
    this.options.changed(true);
    this.next();
  }

  next() {
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.mark();
    this.options.changed(false);
  }

  mark() {
    this.button.replaceChildren(icon(this.playing ? PAUSE : PLAY));
    this.button.setAttribute("aria-label", this.playing ? "Pause (space)" : "Play (space)");
    this.button.title = this.playing ? "Pause (space)" : "Play (space)";
  }

  tick(now) {
    if (!this.playing) return;
    // A frame that began before somebody pressed play: no time has passed, and none is taken back.
    const passed = Math.max(0, Math.min(0.25, (now - this.last) / 1000)) * this.speed;
    this.last = Math.max(this.last, now);
    let t = this.t + passed;
    if (this.skips) {
      const next = this.nextMoment(this.t);
      // What is left of the gap is longer than it may be: to its end, but for a moment.
      const waited = this.t - this.lastMoment(this.t);
      if (next - this.t > 0.15 * this.speed && waited > IDLE && next > t) t = next - 0.1 * this.speed;
    }
    const end = this.options.duration();
    if (t >= end) {
      this.set(end);
      this.options.at(end);
      this.pause();
      return;
    }
    this.set(t);
    this.options.at(t);
    if (this.playing) this.next();
  }

  nextMoment(t) {
    const moments = this.options.moments();
    return moments[lastBefore(moments, t + 1e-6, (one) => one) + 1] ?? this.options.duration();
  }

  lastMoment(t) {
    const moments = this.options.moments();
    return moments[lastBefore(moments, t, (one) => one)] ?? 0;
  }

  // Where it stands, without telling anybody.
  set(t) {
    this.t = t;
    const end = Math.max(0.001, this.options.duration());
    this.range.value = String((1000 * t) / end);
    this.range.setAttribute("aria-valuetext", stamp(t) + " of " + stamp(end));
    this.label.textContent = stamp(t) + " / " + stamp(end);
  }

  scrubbed() {
    const t = (Number(this.range.value) / 1000) * this.options.duration();
    this.set(t);
    this.options.at(t, true);
  }

  soonTicks() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.ticks();
    });
  }

  // A line for every step; more of them than pixels become a shade.
  ticks() {
    const { index, duration, marked } = this.options;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    if (!marked()) return;
    const colours = { quiet: ink("edge"), changed: ink("agent"), failed: ink("failed-fill"), faulted: ink("faulted-fill") };
    const end = Math.max(0.001, duration());
    const bins = new Map();
    // Where steps are close, columns say how many there are.
    const wide = index.total > width / 4 ? 4 : 2;
    for (let n = 0; n < index.total; n += 1) {
      const row = index.at(n);
      if (!row) continue;
      const x = Math.floor(((row.t / end) * (width - 2)) / wide) * wide;
      const bin = bins.get(x) || { all: 0, changed: 0, failed: null };
      bin.all += 1;
      if (row.failed) bin.failed = wrong(row);
      if (row.changed) bin.changed += 1;
      bins.set(x, bin);
    }
    const most = Math.max(1, ...[...bins.values()].map((bin) => bin.all));
    for (const [x, bin] of bins) {
      const share = most > 2 ? 0.25 + (0.75 * bin.all) / most : bin.changed || bin.failed ? 1 : 0.6;
      const tall = Math.round(height * share);
      pen.fillStyle = bin.changed ? colours.changed : colours.quiet;
      pen.fillRect(x, height - tall, wide === 4 ? 3 : 2, tall);
      if (!bin.failed) continue;
      pen.fillStyle = colours[bin.failed];
      pen.fillRect(x, 0, wide === 4 ? 3 : 2, wide === 4 ? 5 : height);
    }
  }
}
