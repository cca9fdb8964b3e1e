// A trial that was played in real time: frames, keys, actions, the latency of answers and looks at the screen
// on one axis of time. Drawn on a canvas; the same stands in a table for those who can't see it.
import { clip, h, plain } from "./dom.js";
import { clock, count, counted, millis, value, words } from "./format.js";
import { opening } from "./blocks.js";
import { ink, onTheme } from "./ink.js";
import { lastBefore } from "./times.js";

const GUTTER = 92;
const LANE = 18;
const RULER = 18;
const KEYS = 6;
const LISTED = 400;
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];

// The height of a lane.
function tall([kind]) {
  return kind === "latency" ? 2 * LANE : LANE;
}

// Times of presses and releases become spans by key or button.
function spans(track) {
  const lanes = new Map();
  const down = new Map();
  const lane = (name) => {
    if (!lanes.has(name)) lanes.set(name, []);
    return lanes.get(name);
  };
  for (const [t, kind, what] of track.inputs) {
    const key = kind.startsWith("key");
    const name = key ? what : kind === "motion" ? "pointer" : kind === "scroll" ? "scroll" : "button " + what;
    if (kind.endsWith("_press")) {
      if (!down.has(name)) down.set(name, t);
    } else if (kind.endsWith("_release")) {
      lane(name).push([down.get(name) ?? t, t]);
      down.delete(name);
    } else {
      lane(name).push([t, t]);
    }
  }
  for (const [name, t] of down) lane(name).push([t, track.duration]);
  const sorted = [...lanes].sort((a, b) => b[1].length - a[1].length);
  if (sorted.length <= KEYS) return sorted;
  const rest = sorted.slice(KEYS - 1).flatMap(([, list]) => list).sort((a, b) => a[0] - b[0]);
  return [...sorted.slice(0, KEYS - 1), ["other input", rest]];
}

// How long answers took, by when they were given: actions of an agent that takes turns, and what a player
// did by itself.
export function answersOf(track) {
  const acted = track.actions.filter((one) => typeof one[2] === "number").map(([t, , late]) => [t, late]);
  return [...track.answers, ...acted].sort((a, b) => a[0] - b[0]);
}

export function middle(answers) {
  const sorted = answers.map((one) => one[1]).sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : null;
}

function afterFrame(late) {
  return millis(late) + " after the frame that it answers";
}

export class Axis {
  // `seek(t)` is told where somebody pressed.
  constructor(track, seek) {
    this.track = track;
    this.seek = seek;
    this.t = 0;
    this.from = 0;
    this.to = Math.max(0.001, track.duration);
    this.lanes = [["frames", "frames"], ...spans(track).map(([name, list]) => ["span", name, list])];
    if (track.actions.length) this.lanes.push(["actions", "actions"]);
    this.answers = answersOf(track);
    this.longest = this.answers.reduce((most, one) => Math.max(most, one[1]), 0);
    if (this.answers.length) this.lanes.push(["latency", "latency"]);
    if (track.looks.length) this.lanes.push(["looks", "looks"]);
    let below = RULER;
    this.tops = this.lanes.map((lane) => {
      const top = below;
      below += tall(lane);
      return top;
    });
    this.height = below + 4;
    this.canvas = h("canvas", { class: "axis-canvas", tabindex: "0", role: "img", "aria-label": this.summary() });
    this.canvas.style.height = this.height + "px";
    this.hint = h("span", { class: "axis-hint soft small" });
    const zoom = (label, by, sign) => h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick: () => this.zoom(by, this.t) }, sign);
    this.element = h("section", { class: "axis", "aria-label": "Time axis" },
      h("div", { class: "axis-bar" }, h("h2", {}, "Real time"), this.hint, h("span", { class: "grow" }), zoom("Zoom in", 0.5, "+"), zoom("Zoom out", 2, "−"),
        h("button", { type: "button", class: "quiet", onclick: () => this.fit() }, "All")),
      this.canvas,
      opening("The same as a table", () => this.table()));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    onTheme(() => this.draw());
  }

  summary() {
    const { frames, inputs, actions, answers, looks, duration, omitted, play } = this.track;
    // What was measured of all of it, where the play has come to its end.
    const measured = play && play.latency && typeof play.latency.p50 === "number" ? play.latency.p50 : middle(this.answers);
    const late = measured === null ? "" : ", median latency " + millis(measured);
    const done = (answers.length ? ", " + counted(answers.length, "answered frame") : "") + (actions.length ? ", " + counted(actions.length, "action") : "");
    return clock(duration) + " with " + counted(frames.length, "frame") + ", " + counted(inputs.length, "input event") + done + late + ", " + counted(looks.length, "look") + (omitted ? "; " + count(omitted) + " left out" : "");
  }

  listen() {
    let held = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, from: this.from, to: this.to, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!held) {
        this.hover(event);
        return;
      }
      const by = event.clientX - held.x;
      if (Math.abs(by) > 3) held.moved = true;
      if (held.moved) {
        const away = (by * (held.to - held.from)) / this.room();
        this.show(held.from - away, held.to - away);
      }
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) this.seek(this.time(event));
      held = null;
    });
    this.canvas.addEventListener("pointercancel", () => (held = null));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / this.room()) * (this.to - this.from);
        this.show(this.from + by, this.to + by);
      } else {
        this.zoom(Math.exp(event.deltaY / 400), this.time(event));
      }
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => {
      const by = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.zoom(by, this.t);
    });
  }

  room() {
    return Math.max(1, this.canvas.clientWidth - GUTTER - 8);
  }

  time(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left - GUTTER;
    const t = this.from + (x / this.room()) * (this.to - this.from);
    return Math.max(0, Math.min(this.track.duration, t));
  }

  hover(event) {
    const t = this.time(event);
    const near = (this.to - this.from) * (6 / this.room());
    const said = [clock(t)];
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    const lane = this.lanes[lastBefore(this.tops, y, (top) => top)];
    if (lane && lane[0] === "actions") {
      const found = this.track.actions.find((one) => Math.abs(one[0] - t) < near);
      if (found) said.push("action, step " + found[1] + (typeof found[2] === "number" ? ", " + afterFrame(found[2]) : ""));
    } else if (lane && lane[0] === "latency") {
      const found = this.answers.find((one) => Math.abs(one[0] - t) < near);
      if (found) said.push(afterFrame(found[1]));
    } else if (lane && lane[0] === "looks") {
      const found = this.track.looks.find((one) => Math.abs(one[0] - t) < near);
      if (found) said.push(clip(plain(found[1]), 80) + (found[2] ? " holds" : " does not hold") + (found[3] === null || found[3] === undefined ? "" : ": " + value(found[3])));
    } else if (lane && lane[0] === "span") {
      const found = lane[2].find((one) => one[0] - near < t && t < one[1] + near);
      if (found) said.push(clip(plain(lane[1]), 40) + " for " + Math.round((found[1] - found[0]) * 1000) + " ms");
    }
    this.hint.textContent = said.join(" · ");
  }

  fit() {
    this.show(0, this.track.duration);
  }

  zoom(by, around) {
    const span = Math.max(0.01, Math.min(this.track.duration, (this.to - this.from) * by));
    const share = (around - this.from) / (this.to - this.from);
    this.show(around - span * share, around + span * (1 - share));
  }

  show(from, to) {
    const span = Math.min(this.track.duration, to - from);
    this.from = Math.max(0, Math.min(from, this.track.duration - span));
    this.to = this.from + Math.max(0.001, span);
    this.draw();
  }

  setTime(t) {
    this.t = t;
    // The place that is played stays in sight.
    const span = this.to - this.from;
    if (t < this.from || t > this.to) this.show(t - span * 0.1, t + span * 0.9);
    else this.draw();
  }

  draw() {
    const { canvas, track } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = this.height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "11px " + getComputedStyle(canvas).fontFamily;
    const x = (t) => GUTTER + ((t - this.from) / (this.to - this.from)) * this.room();
    this.ruler(pen, x, width);
    this.lanes.forEach(([kind, name, list], at) => {
      const y = this.tops[at];
      pen.fillStyle = ink("soft");
      pen.textAlign = "right";
      pen.fillText(clip(plain(name), 14), GUTTER - 8, y + 13);
      pen.fillStyle = ink("line");
      pen.fillRect(GUTTER, y + tall([kind]) - 1, width - GUTTER, 1);
      if (kind === "frames") this.frames(pen, x, y);
      else if (kind === "span") this.spans(pen, x, y, list);
      else if (kind === "actions") this.actions(pen, x, y);
      else if (kind === "latency") this.latency(pen, x, y);
      else this.looks(pen, x, y);
    });
    const at = x(this.t);
    if (at >= GUTTER - 1 && at <= width) {
      pen.fillStyle = ink("failed");
      pen.fillRect(at - 1, RULER - 4, 2, this.height);
      pen.beginPath();
      pen.moveTo(at - 5, RULER - 8);
      pen.lineTo(at + 5, RULER - 8);
      pen.lineTo(at, RULER);
      pen.fill();
    }
    if (!track.frames.length && !track.inputs.length) pen.fillText("nothing was recorded", GUTTER + 60, RULER + 13);
  }

  ruler(pen, x, width) {
    const wanted = ((this.to - this.from) / this.room()) * 80;
    const step = STEPS.find((one) => one >= wanted) || STEPS[STEPS.length - 1];
    pen.fillStyle = ink("soft");
    pen.textAlign = "left";
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      pen.fillStyle = ink("line");
      pen.fillRect(x(t), RULER - 4, 1, this.height);
      pen.fillStyle = ink("soft");
      if (x(t) < width - 30) pen.fillText(step < 0.1 ? t.toFixed(3).replace(/0$/, "") + " s" : clock(t), x(t) + 3, 11);
    }
  }

  seen(list) {
    const first = Math.max(0, lastBefore(list, this.from));
    const last = lastBefore(list, this.to);
    return list.slice(first, last + 1);
  }

  frames(pen, x, y) {
    pen.fillStyle = ink("harness");
    let last = -10;
    for (const [t] of this.seen(this.track.frames)) {
      const at = Math.round(x(t));
      if (at === last || at < GUTTER) continue;
      last = at;
      pen.fillRect(at, y + 4, 1.5, LANE - 8);
    }
  }

  spans(pen, x, y, list) {
    pen.fillStyle = ink("agent");
    for (const [from, to] of list) {
      if (to < this.from || from > this.to) continue;
      const left = Math.max(GUTTER, x(from));
      pen.fillRect(left, y + 3, Math.max(2, x(to) - left), LANE - 7);
    }
  }

  actions(pen, x, y) {
    for (const [t, , late] of this.seen(this.track.actions)) {
      const at = x(t);
      if (at < GUTTER) continue;
      if (late) {
        pen.fillStyle = ink("environment");
        pen.fillRect(Math.max(GUTTER, x(t - late)), y + LANE / 2 - 1, at - Math.max(GUTTER, x(t - late)), 2);
      }
      pen.fillStyle = ink("accent");
      pen.beginPath();
      pen.moveTo(at, y + 3);
      pen.lineTo(at + 4, y + LANE / 2);
      pen.lineTo(at, y + LANE - 4);
      pen.lineTo(at - 4, y + LANE / 2);
      pen.fill();
    }
  }

  // As high as an answer took long; the longest of those that share a place.
  latency(pen, x, y) {
    const high = 2 * LANE - 6;
    pen.fillStyle = ink("soft");
    pen.textAlign = "right";
    pen.fillText("to " + millis(this.longest), GUTTER - 8, y + LANE + 11);
    const bars = new Map();
    for (const [t, late] of this.seen(this.answers)) {
      const at = Math.round(x(t));
      if (at >= GUTTER) bars.set(at, Math.max(bars.get(at) || 0, late));
    }
    pen.fillStyle = ink("environment");
    for (const [at, late] of bars) {
      const tallness = this.longest ? Math.max(2, (late / this.longest) * high) : 2;
      pen.fillRect(at - 1, y + 3 + high - tallness, 2, tallness);
    }
  }

  looks(pen, x, y) {
    for (const [t, , holds] of this.seen(this.track.looks)) {
      const at = x(t);
      if (at < GUTTER) continue;
      pen.beginPath();
      pen.arc(at, y + LANE / 2, 3.5, 0, 7);
      pen.fillStyle = pen.strokeStyle = ink(holds ? "passed" : "soft");
      if (holds) pen.fill();
      else pen.stroke();
    }
  }

  table() {
    const { inputs, actions, answers, looks } = this.track;
    const all = [
      ...inputs.map(([t, kind, what]) => [t, words(plain(kind)), plain(what)]),
      ...actions.map(([t, step, late]) => [t, "action", "step " + step + (typeof late === "number" ? ", " + afterFrame(late) : "")]),
      ...answers.map(([t, late]) => [t, "answer", afterFrame(late)]),
      ...looks.map(([t, test, holds, found]) => [t, "look", clip(plain(test), 120) + (holds ? " holds" : " does not hold") + (found === null || found === undefined ? "" : ": " + value(found))]),
    ].sort((a, b) => a[0] - b[0]);
    const first = Math.max(0, lastBefore(all, this.from));
    const shown = all.slice(first, first + LISTED);
    return h("div", { class: "axis-table", tabindex: "0", role: "region", "aria-label": "Events in real time" },
      h("p", { class: "note" }, this.summary() + "." + (all.length > shown.length ? " Listed are " + count(shown.length) + " from " + clock(this.from) + " on; zoom in to see others." : "")),
      h("table", { class: "sheet" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Time"), h("th", { scope: "col" }, "What"), h("th", { scope: "col" }, ""))),
        h("tbody", {}, shown.map(([t, what, more]) => h("tr", {}, h("td", {}, h("button", { type: "button", class: "step-link", onclick: () => this.seek(t) }, t.toFixed(3) + " s")), h("td", {}, what), h("td", {}, more))))));
  }
}
