// The list of steps on the left, and what is known of all of them.
import { badge, h, plain } from "./dom.js";
import { count, counted, duration, words } from "./format.js";
import { stamp } from "./blocks.js";
import { Rows } from "./rows.js";
import { between, lastBefore } from "./times.js";

const PAGE = 200;
// More steps than this are fetched only as they are looked at.
const ALL = 20000;
// Rows at the end that are not what they will be while a trial is played: its last action, and what comes after.
export const OPEN = 2;

// Rows of steps by number, fetched page by page. `fetch(from, count)` resolves to Steps.
export class StepIndex {
  constructor(steps, fetch) {
    this.fetch = fetch;
    this.total = 0;
    this.rows = [];
    this.asked = new Map();
    this.heard = [];
    // How often it was asked, and the last time whose answer was the newest one.
    this.turn = 0;
    this.newest = 0;
    this.take(steps, 0);
  }

  // Resolves to Steps that are taken in.
  async ask(from, number) {
    const turn = ++this.turn;
    const steps = await this.fetch(from, number);
    this.take(steps, turn);
    return steps;
  }

  // Answers may come in another order than they were asked for. One that was overtaken tells only of rows that
  // do not change any more.
  take(steps, turn) {
    const newer = steps.total > this.total || (steps.total === this.total && turn >= this.newest);
    if (newer) {
      if (steps.total > this.total) this.rows.length = Math.min(this.rows.length, Math.max(0, this.total - OPEN));
      this.total = steps.total;
      this.newest = Math.max(this.newest, turn);
    }
    const sure = newer ? steps.total : steps.total - OPEN;
    steps.rows.forEach((row, at) => {
      if (steps.from + at < sure) this.rows[steps.from + at] = row;
    });
    for (const hear of this.heard) hear();
  }

  onChange(hear) {
    this.heard.push(hear);
  }

  at(n) {
    return this.rows[n];
  }

  known(from, to) {
    for (let n = from; n < to; n += 1) if (!this.rows[n]) return false;
    return true;
  }

  // For the windowed list.
  async load(offset, number) {
    const to = Math.min(this.total, offset + number);
    if (!this.known(offset, to)) await this.page(offset, number);
    return { total: this.total, rows: this.rows.slice(offset, Math.min(this.total, offset + number)) };
  }

  async page(from, number) {
    const name = from + "+" + number;
    if (!this.asked.has(name)) {
      const done = this.ask(from, number).finally(() => this.asked.delete(name));
      this.asked.set(name, done);
    }
    return this.asked.get(name);
  }

  // All rows, one page after the other, as long as there are not too many of them.
  async all() {
    if (this.total > ALL) return false;
    for (let from = 0; from < this.total; from += 500) {
      const to = Math.min(this.total, from + 500);
      if (!this.known(from, to)) await this.page(from, to - from);
    }
    return true;
  }

  // The last step that had begun at a time; a guess where not all rows are known.
  when(t) {
    let [low, high] = [0, this.total - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const row = this.rows[middle] || this.nearest(middle);
      if (row && row.t <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  nearest(n) {
    for (let away = 1; away < this.total; away += 1) {
      const row = this.rows[n - away] || this.rows[n + away];
      if (row) return row;
    }
    return null;
  }
}

// Frames of a play in real time without actions, as rows of steps are: all of them are known.
export class FrameIndex {
  constructor(track) {
    this.rows = track.frames.map(([t, blob], n) => {
      const { names, times } = pressed(track, n);
      return { n, t, kind: "frame", brief: names.join(" ") + (times > names.length ? " × " + times : ""), shot: track.blobs[blob], changed: true, failed: false };
    });
    this.total = this.rows.length;
  }

  onChange() {}

  at(n) {
    return this.rows[n];
  }

  async load(offset, number) {
    return { total: this.total, rows: this.rows.slice(offset, offset + number) };
  }

  async all() {
    return true;
  }

  when(t) {
    return Math.max(0, lastBefore(this.rows, t + 1e-6, (row) => row.t));
  }
}

// Keys and buttons that were pressed while a frame was on the screen: a few names, and how many in all.
function pressed(track, at) {
  const [t] = track.frames[at];
  const until = at + 1 < track.frames.length ? track.frames[at + 1][0] : track.duration;
  const all = between(track.inputs, t, until).filter(([, kind]) => kind.endsWith("_press"));
  return { names: [...new Set(all.map((one) => plain(one[2])))].slice(0, 4), times: all.length };
}

// What went wrong in a step: `failed`, or `faulted` of a trial that did not come to its end by itself.
export function wrong(row) {
  if (!row.failed) return null;
  return row.kind === "end" ? "faulted" : "failed";
}

function label(row, index) {
  if (row.kind === "frame") return String(row.n + 1);
  if (row.kind === "setup") return "Start";
  if (row.kind === "end") return "End";
  return String(row.n ?? index);
}

export class Timeline {
  // `options`: {body, scroller, index, pictures: whether there are thumbnails, thumb(digest), href(n), pick(n)}
  constructor(options) {
    this.options = options;
    const { body, scroller, index } = options;
    this.rows = new Rows({
      body,
      scroller,
      height: options.pictures ? 68 : 40,
      page: PAGE,
      over: 14,
      load: (offset, number) => index.load(offset, number),
      render: (row, at) => this.render(row, at),
      key: (row) => String(row.n),
    });
    body.setAttribute("role", "grid");
    body.setAttribute("aria-label", "Steps");
    this.refill();
  }

  refill() {
    const { index } = this.options;
    const at = this.rows.index;
    this.rows.show({ total: index.total, offset: 0, rows: index.rows.slice(0, index.total) }, { keep: true });
    this.rows.index = at;
  }

  // Takes in rows that came, without losing the place.
  grown() {
    const { index } = this.options;
    this.rows.take({ total: index.total, offset: 0, rows: index.rows });
    this.rows.measure();
    this.rows.draw(true);
  }

  select(n, how) {
    this.rows.pick(n, { focus: Boolean(how && how.focus), scroll: true });
  }

  // Gives the place to another list.
  close() {
    const { scroller } = this.options;
    this.rows.show({ total: 0, rows: [] });
    scroller.removeEventListener("scroll", this.rows.seen);
    window.removeEventListener("resize", this.rows.seen);
    this.rows.observer.disconnect();
  }

  render(row, at) {
    const { index, pictures, thumb, href, pick } = this.options;
    const before = index.at(at - 1);
    const gap = before ? row.t - before.t : 0;
    const state = wrong(row);
    const still = row.shot && !row.changed && row.kind !== "setup" && row.kind !== "end";
    const picture = !pictures ? null : row.shot
      ? h("img", { class: "step-thumb", src: thumb(row.shot), alt: "", width: "96", height: "60", decoding: "async", fetchpriority: "low" })
      : h("span", { class: "step-thumb none" });
    return h("div", { class: "step-row" + (pictures ? " pictured" : "") + (state ? " " + state : ""), role: "row" },
      h("div", { role: "gridcell", class: "step-cell" },
        h("a", {
          class: "step-open", href: href(row.n), "data-focus": true, tabindex: "-1",
          onclick: (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
            event.preventDefault();
            pick(row.n);
          },
        },
        picture,
        h("span", { class: "step-words" },
          h("span", { class: "step-top" }, h("span", { class: "step-n" }, label(row, at)), ["setup", "end", "frame"].includes(row.kind) ? null : h("span", { class: "step-kind kind-" + group(row.kind) }, words(plain(row.kind))), state === "faulted" ? badge(state) : state ? h("span", { class: "tag bad", title: "failed" }, "✕", h("span", { class: "unseen" }, " failed")) : null, h("span", { class: "step-t", title: gap >= 0.1 ? duration(gap) + " after the step before" : null }, stamp(row.t))),
          h("span", { class: "step-brief" }, plain(row.brief)),
          still ? h("span", { class: "step-still" }, "screen unchanged") : null))));
  }
}

// What an action is about, for its colour.
export function group(kind) {
  if (["click", "move", "drag", "scroll"].includes(kind)) return "mouse";
  if (["key", "key_down", "key_up", "type"].includes(kind)) return "keys";
  if (["run", "cell", "browse"].includes(kind)) return "run";
  if (["read", "write", "edit", "insert", "undo"].includes(kind)) return "files";
  if (["message", "think", "finish", "reject"].includes(kind)) return "talk";
  return "other";
}

// How many steps there were, and how many are allowed.
export function stepsTitle(head) {
  const most = head.task.steps;
  const words = counted(head.steps, "step") + (most < 1000000 && head.steps <= most ? ", at most " + count(most) : "");
  return h("span", { title: words }, words);
}

// Frames of a trial that was played in real time without steps, in place of the list of steps.
export class FrameList {
  // `options`: {body, scroller, track, thumb(digest), pick(t)}
  constructor(options) {
    const { body, scroller, track, thumb, pick } = options;
    body.replaceChildren();
    body.setAttribute("aria-label", "Frames");
    this.rows = new Rows({
      body,
      scroller,
      height: 68,
      over: 14,
      render: ([t, blob], at) => {
        const { names, times } = pressed(track, at);
        return h("div", { class: "step-row pictured", role: "row" }, h("div", { role: "gridcell", class: "step-cell" },
          h("button", { type: "button", class: "step-open", "data-focus": true, tabindex: "-1", onclick: () => pick(t) },
            h("img", { class: "step-thumb", src: thumb(track.blobs[blob]), alt: "", width: "96", height: "60", decoding: "async", fetchpriority: "low" }),
            h("span", { class: "step-words" },
              h("span", { class: "step-top" }, h("span", { class: "step-n" }, String(at + 1)), h("span", { class: "step-t" }, stamp(t))),
              h("span", { class: "step-brief" }, names.length ? [names.map((name) => h("kbd", {}, name)), h("span", { class: "soft" }, " × " + times)] : null)))));
      },
    });
    this.rows.show({ total: track.frames.length, offset: 0, rows: track.frames });
  }

  select(at) {
    if (this.rows.index !== at) this.rows.pick(at, { focus: false, scroll: true });
  }
}
