// The steps of a trial without screens, one below the other, as far as they are near: what was thought, done
// and answered. Further ones come while somebody scrolls.
import { h, plain } from "./dom.js";
import { words } from "./format.js";
import { stamp } from "./blocks.js";
import { stepEvents } from "./step.js";
import { group } from "./timeline.js";

const AHEAD = 6;
const MOST = 80;
const NEAR = 900;

export class Transcript {
  // `options`: {index, step(n) -> Promise of a Step, ctx, seen(n): the step at the top is another one}
  constructor(options) {
    this.options = options;
    this.first = 0;
    this.end = 0;
    this.turn = 0;
    // Rises whenever another part is shown: what was on its way to the old one is not wanted.
    this.part = 0;
    this.shown = new Map();
    this.list = h("div", { class: "transcript-list" });
    this.element = h("div", { class: "transcript", tabindex: "0", role: "region", "aria-label": "Transcript" }, this.list);
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  async fetched(from, to) {
    const wanted = [];
    for (let n = from; n < to; n += 1) wanted.push(this.options.step(n).then((step) => this.block(n, step)));
    return Promise.all(wanted);
  }

  block(n, step) {
    const special = step.kind === "setup" || step.kind === "end";
    const name = step.kind === "setup" ? "Start" : step.kind === "end" ? "End" : "Step " + n;
    return h("article", { class: "turn" + (step.failed ? " failed" : ""), dataset: { n }, "aria-label": name },
      h("header", { class: "turn-head" }, h("span", { class: "turn-n" }, name), special ? null : h("span", { class: "step-kind kind-" + group(step.kind) }, words(plain(step.kind))), step.failed ? h("span", { class: "tag bad" }, "✕ failed") : null, h("span", { class: "grow" }), h("span", { class: "soft small" }, stamp(step.t))),
      stepEvents(step, this.options.ctx));
  }

  // Brings a step to the top, unless it is in sight.
  async show(n, how) {
    const turn = ++this.turn;
    if (n < this.first || n >= this.end) {
      const from = Math.max(0, n - 2);
      const to = Math.min(this.options.index.total, n + AHEAD);
      const blocks = await this.fetched(from, to);
      if (turn !== this.turn) return;
      this.list.replaceChildren(...blocks);
      [this.first, this.end] = [from, to];
      this.part += 1;
    }
    const block = this.at(n);
    if (!block) return;
    for (const one of this.list.querySelectorAll(".turn.current")) one.classList.remove("current");
    block.classList.add("current");
    if (!how || how.scroll !== false) {
      this.still = performance.now() + 250;
      if (how && how.end) {
        this.element.scrollTop = Math.min(block.offsetTop - 8, block.offsetTop + block.offsetHeight - this.element.clientHeight + 24);
        this.more();
        return;
      }
      const top = block.offsetTop - 8;
      const inside = block.offsetTop >= this.element.scrollTop && block.offsetTop + Math.min(block.offsetHeight, 120) <= this.element.scrollTop + this.element.clientHeight;
      if (!inside || (how && how.exact)) this.element.scrollTop = top;
    }
    this.more();
  }

  at(n) {
    return this.list.children[n - this.first];
  }

  scrolled() {
    this.more();
    if (performance.now() < (this.still || 0)) return;
    const top = this.element.scrollTop + 40;
    let found = this.first;
    for (const block of this.list.children) {
      if (block.offsetTop > top) break;
      found = Number(block.dataset.n);
    }
    this.options.seen(found);
  }

  // Steps before and after those that are there; the browser keeps what is read in its place.
  async more() {
    if (this.busy) return;
    this.busy = true;
    const { element, list, options } = this;
    const part = this.part;
    try {
      if (this.end < options.index.total && element.scrollTop + element.clientHeight + NEAR > list.offsetHeight) {
        const to = Math.min(options.index.total, this.end + AHEAD);
        const blocks = await this.fetched(this.end, to);
        if (part === this.part) {
          list.append(...blocks);
          this.end = to;
        }
        while (this.end - this.first > MOST) {
          list.firstElementChild.remove();
          this.first += 1;
        }
      } else if (this.first > 0 && element.scrollTop < NEAR) {
        const from = Math.max(0, this.first - AHEAD);
        const blocks = await this.fetched(from, this.first);
        if (part === this.part) {
          const height = list.offsetHeight;
          const at = element.scrollTop;
          list.prepend(...blocks);
          element.scrollTop = at + (list.offsetHeight - height);
          this.first = from;
        }
        while (this.end - this.first > MOST) {
          list.lastElementChild.remove();
          this.end -= 1;
        }
      } else {
        return;
      }
    } finally {
      this.busy = false;
    }
    this.more();
  }

  // The last steps have changed: a trial that is being played.
  async grown(from) {
    if (this.end < from) return;
    const part = ++this.part;
    const begin = Math.max(this.first, from);
    const to = Math.min(this.options.index.total, Math.max(this.end, begin + AHEAD));
    const blocks = await this.fetched(begin, to);
    if (part !== this.part) return;
    while (this.list.children.length > begin - this.first) this.list.lastElementChild.remove();
    this.list.append(...blocks);
    this.end = to;
  }
}
