// What people say about a trial: pass, fail, clear, with a comment and a name.
import { h, plain, say, sign } from "./dom.js";
import { when } from "./format.js";
import { text } from "./blocks.js";

const WORDS = { pass: "pass", fail: "fail", clear: "taken back" };
const STATE = { pass: "passed", fail: "failed", clear: "missing" };

function kept() {
  try {
    return window.localStorage.getItem("agon-reviewer") || "";
  } catch {
    return "";
  }
}

function keep(name) {
  try {
    window.localStorage.setItem("agon-reviewer", name);
  } catch {
    // Holds for this page only.
  }
}

function entry(review) {
  return h("li", { class: "review-entry" },
    h("div", { class: "event-line" }, sign(STATE[review.verdict] || "missing"), h("strong", {}, WORDS[review.verdict] || plain(review.verdict)),
      h("span", {}, plain(review.reviewer) || "somebody"), h("time", { class: "soft", datetime: review.at }, when(review.at))),
    review.comment ? text(review.comment, { kind: "speech" }) : null);
}

export class ReviewPanel {
  // `options`: {head() , allowed, post(order) -> Promise, next(): the address of the next unreviewed trial,
  // changed(): asks for the head again}
  constructor(options) {
    this.options = options;
    this.comment = h("textarea", { id: "review-comment", rows: "4", maxlength: "10000", placeholder: "What did you see? (optional)" });
    this.name = h("input", { type: "text", id: "review-name", maxlength: "100", autocomplete: "name", value: kept(), onchange: () => keep(this.name.value.trim()) });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.buttons = ["pass", "fail", "clear"].map((verdict) => {
      const label = { pass: "✓ Pass", fail: "✕ Fail", clear: "Clear" }[verdict];
      const key = { pass: "p", fail: "f", clear: "c" }[verdict];
      return h("button", { type: "button", class: "review-" + verdict, onclick: () => this.give(verdict) }, label, " ", h("kbd", { "aria-hidden": "true" }, key));
    });
    this.element = h("div", { class: "review" });
    this.busy = false;
    this.draw();
  }

  draw() {
    const { head, allowed, next } = this.options;
    const { review, checks_say: checks } = head();
    const standing = review.standing;
    const says = standing && STATE[standing.verdict];
    const differs = standing && checks && says !== checks;
    const possible = allowed && review.possible;
    this.buttons.forEach((button, at) => {
      button.disabled = this.busy || !possible || (at === 2 && !standing);
      button.setAttribute("aria-pressed", standing && ["pass", "fail"][at] === standing.verdict ? "true" : "false");
    });
    this.comment.disabled = this.name.disabled = !possible;
    const why = !allowed ? "These pages can't be written to." : review.possible ? null : "Only an attempt that counts can be reviewed.";
    // Somebody else may say something while a comment is written.
    const held = this.element.contains(document.activeElement) ? document.activeElement : null;
    this.element.replaceChildren(
      h("div", { class: "review-state" }, standing
        ? h("div", { class: "verdict is-check-" + says }, h("div", { class: "event-line" }, sign(says), h("strong", {}, "Reviewed: " + WORDS[standing.verdict]), h("span", { class: "soft" }, "by " + (plain(standing.reviewer) || "somebody"))))
        : h("p", { class: "soft" }, "Nobody has reviewed this trial.", checks ? " The checks say " + checks + "." : "")),
      differs ? h("p", { class: "problem" }, "This is not what the checks say (" + checks + "). The person is believed.") : "",
      why ? h("p", { class: "note" }, why) : h("div", { class: "review-form" },
        h("div", { class: "group review-buttons", role: "group", "aria-label": "Verdict" }, this.buttons),
        h("label", { for: "review-comment" }, "Comment ", h("kbd", { "aria-hidden": "true" }, "m")), this.comment,
        h("p", { class: "note" }, "A comment is kept together with the verdict."),
        h("label", { for: "review-name" }, "Your name"), this.name),
      this.problem,
      next() ? h("p", {}, h("a", { class: "button", href: next() }, "Next unreviewed trial ", h("kbd", { "aria-hidden": "true" }, "n"))) : "",
      review.history.length ? h("section", {}, h("h3", {}, "All that was said"), h("ol", { class: "review-history" }, review.history.slice().reverse().map(entry))) : "");
    if (held && held.isConnected) held.focus({ preventScroll: true });
  }

  async give(verdict) {
    const { head, allowed, post, changed } = this.options;
    const { key, review } = head();
    if (this.busy || !allowed || !review.possible || (verdict === "clear" && !review.standing)) return;
    this.busy = true;
    this.problem.hidden = true;
    this.draw();
    try {
      const reviewer = this.name.value.trim();
      keep(reviewer);
      await post({ trial: key, verdict, comment: this.comment.value.trim(), reviewer });
      this.comment.value = "";
      say("Recorded: " + WORDS[verdict]);
      await changed();
    } catch (error) {
      this.problem.textContent = "It was not recorded: " + plain(error.message);
      this.problem.hidden = false;
    }
    this.busy = false;
    this.draw();
  }

  write() {
    this.comment.focus();
  }
}
