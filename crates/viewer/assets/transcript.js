// The steps of a trial without screens, one below the other, as far as they are near: what was thought, done
// and answered. Further ones come while somebody scrolls.
import { badge, h, plain, say } from "./dom.js";
import { words } from "./format.js";
import { stamp } from "./blocks.js";
import { stepEvents } from "./step.js";
import { group, wrong } from "./timeline.js";

const AHEAD = 6;
const MOST = 80;
const NEAR = 900;
// What is nearer stays: it would be wanted again at once.
const FAR = 2 * NEAR;

export class Transcript {
  // `options`: {index, step(n) -> Promise of a Step, ctx, seen(n, last): a person scrolled, this step is at
  // the top now; `last`: nothing comes below what is in sight}
  constructor(options) {
    this.options = options;
    this.first = 0;
    this.end = 0;
    this.turn = 0;
    // Rises with every change of what is in the list or belongs there: what was fetched before a change is not
    // put into the list after it.
    this.part = 0;
    this.marked = -1;
    // Where the page itself has scrolled to, and whether a person has scrolled since, who is told of later.
    this.put = 0;
    this.moved = false;
    this.list = h("div", { class: "transcript-list" });
    this.element = h("div", { class: "transcript", tabindex: "0", role: "region", "aria-label": "Transcript" }, this.list);
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.more()).observe(this.element);
  }

  async fetched(from, to) {
    const wanted = [];
    for (let n = from; n < to; n += 1) wanted.push(this.options.step(n).then((step) => this.block(n, step)));
    return Promise.all(wanted);
  }

  block(n, step) {
    const state = wrong(step);
    const special = step.kind === "setup" || step.kind === "end";
    const name = step.kind === "setup" ? "Start" : step.kind === "end" ? "End" : "Step " + n;
    return h("article", { class: "turn" + (state ? " " + state : ""), dataset: { n }, "aria-label": name },
      h("header", { class: "turn-head" }, h("span", { class: "turn-n" }, name), special ? null : h("span", { class: "step-kind kind-" + group(step.kind) }, words(plain(step.kind))), state === "faulted" ? badge(state) : state ? h("span", { class: "tag bad" }, "✕ failed") : null, h("span", { class: "grow" }), h("span", { class: "soft small" }, stamp(step.t))),
      stepEvents(step, this.options.ctx));
  }

  // Brings a step to the top, unless it is in sight.
  async show(n, how) {
    const turn = ++this.turn;
    // What is read stays where it is.
    if (how && how.scroll === false) {
      this.marked = n;
      this.mark();
      return;
    }
    while (n < this.first || n >= this.end) {
      const part = this.part;
      const from = Math.max(0, n - 2);
      const to = Math.min(this.options.index.total, n + AHEAD);
      const blocks = await this.fetched(from, to);
      if (turn !== this.turn) return;
      if (part !== this.part) continue;
      if (n >= to) return;
      this.change(from, to, () => this.list.replaceChildren(...blocks));
    }
    this.marked = n;
    this.mark();
    const block = this.list.children[n - this.first];
    const top = block.offsetTop - 8;
    const bottom = block.offsetTop + block.offsetHeight - this.element.clientHeight + 24;
    const inside = block.offsetTop >= this.element.scrollTop && block.offsetTop + Math.min(block.offsetHeight, 120) <= this.element.scrollTop + this.element.clientHeight;
    const to = how && how.end ? Math.min(top, bottom) : !inside || (how && how.exact) ? top : null;
    if (to !== null) {
      this.scroll(to);
      this.moved = false;
    }
    this.more();
  }

  // Changes what is in the list, whose steps are then those from `first` to `end`.
  change(first, end, apply) {
    if (Math.abs(this.element.scrollTop - this.put) >= 2) this.moved = true;
    apply();
    [this.first, this.end] = [first, end];
    this.part += 1;
    this.mark();
    this.put = this.element.scrollTop;
  }

  // The same where a person may be reading: what is in sight stays where it is.
  keep(first, end, apply) {
    const top = this.element.scrollTop;
    const read = [...this.list.children].find((block) => block.offsetTop + block.offsetHeight > top);
    const was = read ? read.offsetTop : 0;
    this.change(first, end, apply);
    // Its place may have been taken by a newer one of the same step.
    const now = read && this.list.children[Number(read.dataset.n) - first];
    if (now && now.offsetTop !== was) this.scroll(top + now.offsetTop - was);
  }

  mark() {
    for (const block of this.list.children) block.classList.toggle("current", Number(block.dataset.n) === this.marked);
  }

  scroll(to) {
    this.element.scrollTop = to;
    this.put = this.element.scrollTop;
  }

  scrolled() {
    this.more();
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    // Not by a person: the page did it, and is told of it late.
    if (!this.moved && Math.abs(scrollTop - this.put) < 2) return;
    this.moved = false;
    this.put = scrollTop;
    let found = this.first;
    for (const block of this.list.children) {
      if (block.offsetTop > scrollTop + 40) break;
      found = Number(block.dataset.n);
    }
    this.options.seen(found, this.end >= this.options.index.total && scrollTop + clientHeight > scrollHeight - 40);
  }

  // Steps before and after those that are there. Those that are too many leave at the other end, if they are far
  // from what is in sight.
  async more() {
    if (this.busy || this.end === 0) return;
    this.busy = true;
    try {
      while (await this.extend());
    } catch (error) {
      // Tried again when somebody scrolls.
      say(plain(error.message));
    } finally {
      this.busy = false;
    }
  }

  // Resolves to whether there may be more to do.
  async extend() {
    const { element, list, part } = this;
    if (!element.clientHeight) return false;
    const below = element.scrollTop + element.clientHeight + NEAR > list.offsetHeight;
    const above = element.scrollTop < NEAR;
    if (below && this.end < this.options.index.total) {
      const to = Math.min(this.options.index.total, this.end + AHEAD);
      const blocks = await this.fetched(this.end, to);
      if (part !== this.part) return true;
      const over = Math.max(0, to - MOST - this.first);
      const gone = [...list.children].slice(0, over).filter((block) => block.offsetTop + block.offsetHeight < element.scrollTop - FAR);
      this.keep(this.first + gone.length, to, () => {
        list.append(...blocks);
        for (const block of gone) block.remove();
      });
      return true;
    }
    if (above && this.first > 0) {
      const from = Math.max(0, this.first - AHEAD);
      const blocks = await this.fetched(from, this.first);
      if (part !== this.part) return true;
      const over = Math.max(0, this.end - from - MOST);
      const gone = [...list.children].slice(list.children.length - over).filter((block) => block.offsetTop > element.scrollTop + element.clientHeight + FAR);
      this.keep(from, this.end - gone.length, () => {
        list.prepend(...blocks);
        for (const block of gone) block.remove();
      });
      return true;
    }
    return false;
  }

  // The steps from `from` on have changed, or are new: a trial that is being played.
  async grown(from) {
    this.part += 1;
    while (this.end >= from) {
      const part = this.part;
      const begin = Math.max(this.first, from);
      const to = Math.min(this.options.index.total, Math.max(this.end, begin + AHEAD));
      const blocks = await this.fetched(begin, to);
      if (part !== this.part) continue;
      const gone = [...this.list.children].slice(begin - this.first);
      this.keep(this.first, to, () => {
        for (const block of gone) block.remove();
        this.list.append(...blocks);
      });
      break;
    }
    this.more();
  }
}
