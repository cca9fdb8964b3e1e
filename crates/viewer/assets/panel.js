// The panel on the right: tabs about the step that is shown and about the trial.
import { h, keepHere, keptHere, plain, sign } from "./dom.js";
import { count, counted, duration, money, percent, value, when, words } from "./format.js";
import { fact, stamp, tag, text } from "./blocks.js";
import { checksPanel } from "./checks.js";
import { link } from "./source.js";
import { rawEvents, stepEvents, usageFacts } from "./step.js";

// Without screens, the middle of the page shows steps.
export const TABS = ["Step", "Checks", "Task", "Review", "Raw"];

function rows(...list) {
  return h("dl", { class: "facts tight" }, list.filter(Boolean).map(([name, ...shown]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown))));
}

function attemptLink(head, one, query) {
  const here = one.attempt === head.key.attempt;
  const state = one.outcome || "running";
  const body = [sign(state), "Attempt " + one.attempt + ": " + state];
  return h("li", {}, here ? h("strong", {}, body) : h("a", { href: link("trial", head.run, { ...head.key, attempt: one.attempt }, query) }, body),
    one.is_final ? tag("counts") : null, one.regraded ? tag("graded again") : null);
}

function usage(title, used) {
  if (!used || !(used.input_tokens || used.output_tokens || used.money)) return null;
  return [title, h("span", { class: "spread" }, usageFacts(used), used.calls ? fact("calls", count(used.calls)) : null)];
}

export function taskPanel(head, query) {
  const { task, seconds } = head;
  const total = seconds.agent + seconds.environment + seconds.harness;
  return h("div", { class: "task-panel" },
    head.instruction ? h("section", {}, h("h3", {}, "Instruction"), text(head.instruction, { kind: "speech", most: 40 })) : null,
    head.answer === null || head.answer === undefined ? null : h("section", {}, h("h3", {}, "Answer"), text(head.answer, { kind: "speech", most: 40 })),
    h("section", {}, h("h3", {}, "Trial"), rows(
      ["Task", h("code", {}, plain(task.task))],
      task.level ? ["Level", plain(task.level)] : null,
      ["Environment", plain(task.environment), task.image ? [" ", h("code", { class: "small" }, plain(task.image))] : null, task.network ? tag("network") : null],
      ["Epoch", count(head.key.epoch)],
      head.end ? ["Turn ended", words(plain(head.end))] : null,
      ["Steps", count(head.steps) + (task.steps < 1000000 ? " of at most " + count(task.steps) : "")],
      ["Time", duration(total || head.duration) + " of at most " + duration(Number(task.seconds))],
      total ? ["Spent by", h("span", { class: "spread" }, fact("agent", duration(seconds.agent)), fact("environment", duration(seconds.environment)), fact("harness", duration(seconds.harness)))] : null,
      usage("Used", head.usage),
      usage("By judges", head.judge_usage),
      task.weight !== 1 ? ["Weight", value(task.weight)] : null,
      head.began ? ["Began", when(head.began)] : null)),
    head.attempts.length > 1 ? h("section", {}, h("h3", {}, "Attempts"), h("ul", { class: "plain-list" }, head.attempts.map((one) => attemptLink(head, one, query)))) : null);
}

export class Panel {
  // `options`: {element, head(), screens, review: ReviewPanel, ctx, query()}
  constructor(options) {
    this.options = options;
    this.step = null;
    this.names = TABS.filter((name) => options.screens || name !== "Step");
    const wanted = keptHere("agon-tab");
    this.current = this.names.includes(wanted) ? wanted : this.names[0];
    this.tabs = this.names.map((name) =>
      h("button", { type: "button", role: "tab", id: "tab-" + name, "aria-controls": "panel-body", onclick: () => this.open(name) }, name));
    this.list = h("div", { class: "tabs", role: "tablist", "aria-label": "About the step and the trial" }, this.tabs);
    this.list.addEventListener("keydown", (event) => this.arrows(event));
    this.body = h("div", { class: "panel-body", id: "panel-body", role: "tabpanel", tabindex: "0" });
    options.element.append(this.list, this.body);
    this.label();
    this.draw();
  }

  arrows(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const at = (this.names.indexOf(this.current) + by + this.names.length) % this.names.length;
    this.open(this.names[at]);
    this.tabs[at].focus();
  }

  open(name) {
    if (!this.names.includes(name)) return;
    this.current = name;
    keepHere("agon-tab", name);
    this.label();
    this.draw();
    this.body.scrollTop = 0;
  }

  // Something in place of the step.
  instead(make) {
    this.made = make;
    if (this.current === "Step") this.draw();
  }

  show(step) {
    // What is read stays as it was unfolded and scrolled.
    if (this.step && !this.made && this.step.n === step.n && JSON.stringify(this.step) === JSON.stringify(step)) return;
    this.step = step;
    this.made = null;
    if (this.current === "Step" || this.current === "Raw") {
      this.draw();
      this.body.scrollTop = 0;
    }
  }

  // What is known of the trial has changed; `reviewed`: nothing but reviews. A step stays as it was unfolded.
  refresh(reviewed) {
    this.label();
    if (this.current === "Review" || (!reviewed && ["Checks", "Task"].includes(this.current))) this.draw();
  }

  label() {
    const head = this.options.head();
    const failed = head.checks.filter((check) => !check.passed).length;
    this.tabs.forEach((tab, at) => {
      const name = this.names[at];
      const on = name === this.current;
      tab.setAttribute("aria-selected", on ? "true" : "false");
      tab.tabIndex = on ? 0 : -1;
      const more = name === "Checks" && head.checks.length ? h("span", { class: "tab-count " + (failed ? "bad" : "good"), title: failed ? counted(failed, "check") + " did not pass" : "all passed" }, failed ? "✕ " + failed : "✓")
        : name === "Review" && head.review.standing ? sign(head.review.standing.verdict === "pass" ? "passed" : "failed") : "";
      // Where nothing was done step by step, frames are looked at.
      const label = name === "Step" && head.realtime && !head.acted ? "Frame" : name;
      tab.replaceChildren(label, " ", more);
    });
    this.body.setAttribute("aria-labelledby", "tab-" + this.current);
  }

  draw() {
    const { head, review, ctx, query } = this.options;
    const step = this.step;
    const views = {
      Step: () => (this.made ? this.made() : step ? this.stepView(step) : h("p", { class: "soft" }, "…")),
      Checks: () => checksPanel(head(), ctx),
      Task: () => taskPanel(head(), query()),
      Review: () => review.element,
      Raw: () => (step ? h("div", {}, h("h3", {}, step.kind === "setup" ? "Start" : step.kind === "end" ? "End" : "Step " + step.n), rawEvents(step, ctx)) : h("p", { class: "soft" }, "…")),
    };
    const view = views[this.current]();
    if (this.body.firstChild !== view) this.body.replaceChildren(view);
  }

  stepView(step) {
    const { ctx } = this.options;
    const name = step.kind === "setup" ? "Before the first step" : step.kind === "end" ? ending(step) : "Step " + step.n;
    return h("div", {}, h("div", { class: "panel-step" }, h("h2", {}, name), h("span", { class: "soft" }, "at " + stamp(step.t) + (step.until > step.t ? ", " + duration(step.until - step.t) + " to the next" : ""))), stepEvents(step, ctx));
  }
}

// What the last row is: its first words, as the list of steps has them. Not every attempt came to its turn.
function ending(step) {
  const words = plain(step.brief).split(":")[0];
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

// The line of figures below the title.
export function headFacts(head, query) {
  const { usage: used, seconds, task } = head;
  const total = seconds.agent + seconds.environment + seconds.harness;
  const tokens = (used.input_tokens || 0) + (used.output_tokens || 0);
  return [
    task.level ? tag(plain(task.level)) : null,
    head.score === null || head.score === undefined ? null : fact("score", percent(head.score)),
    head.measured === null || head.measured === undefined ? null : fact("measured", value(head.measured)),
    head.realtime && !head.steps ? null : fact("steps", count(head.steps)),
    fact("time", duration(total || head.duration)),
    total ? timeBar(seconds, total) : null,
    tokens ? fact("tokens", count(tokens)) : null,
    used.money === undefined || used.money === null ? null : fact("cost", money(used.money / 1e6, used.unpriced_calls > 0)),
    head.end ? fact("ended", words(plain(head.end))) : null,
    head.attempts.length > 1 ? fact("attempt", attempts(head, query)) : null,
  ];
}

// Which of several it is, and the way to the ones beside it.
function attempts(head, query) {
  const at = head.attempts.findIndex((one) => one.attempt === head.key.attempt);
  const way = (one, sign) => (one ? h("a", { href: link("trial", head.run, { ...head.key, attempt: one.attempt }, query), title: "Attempt " + one.attempt + ": " + (one.outcome || "running"), "aria-label": "Attempt " + one.attempt }, sign) : null);
  return [way(head.attempts[at - 1], "‹ "), head.key.attempt + " of " + head.attempts.length, way(head.attempts[at + 1], " ›")];
}

function timeBar(seconds, total) {
  const parts = ["agent", "environment", "harness"];
  const words = parts.map((name) => name + " " + duration(seconds[name])).join(", ");
  return h("span", { class: "split head-split", role: "img", "aria-label": words, title: words },
    parts.map((name) => h("i", { class: "f-" + name, style: { width: (100 * seconds[name]) / total + "%" } })));
}

