// What people say about a trial: pass, fail, clear, with a comment and a name.
import { h, keepHere, keptHere, plain, say, sign } from "./dom.js";
import { when } from "./format.js";
import { text } from "./blocks.js";
import { asked, known, remember } from "./who.js";

const WORDS = { pass: "pass", fail: "fail", clear: "taken back" };
const STATE = { pass: "passed", fail: "failed", clear: "missing" };

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
    const { run, key } = options.head();
    this.draft = ["agon-draft", run, key.task, key.epoch, key.attempt].join(" ");
    this.comment = h("textarea", { id: "review-comment", rows: "4", maxlength: "10000", placeholder: "What did you see? (optional)", oninput: () => keepHere(this.draft, this.comment.value) });
    this.comment.value = keptHere(this.draft, "");
    this.name = h("input", { type: "text", id: "review-name", maxlength: "100", autocomplete: "name", value: known() ?? "", onchange: () => remember(this.name.value.trim()) });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.hinted = h("p", { class: "note", hidden: true });
    this.buttons = ["pass", "fail", "clear"].map((verdict) => {
      const label = { pass: "✓ Pass", fail: "✕ Fail", clear: "Clear" }[verdict];
      const key = { pass: "p", fail: "f", clear: "c" }[verdict];
      return h("button", { type: "button", class: "review-" + verdict, onclick: () => this.give(verdict) }, label, " ", h("kbd", { "aria-hidden": "true" }, key));
    });
    this.element = h("div", { class: "review" });
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
      button.disabled = !possible || (at === 2 && !standing);
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
        h("div", { class: "group review-buttons", role: "group", "aria-label": "Verdict" }, this.buttons), this.hinted,
        h("label", { for: "review-comment" }, "Comment ", h("kbd", { "aria-hidden": "true" }, "m")), this.comment,
        h("p", { class: "note" }, "A comment is recorded together with the verdict; until then this tab keeps it as a draft."),
        h("label", { for: "review-name" }, "Your name"), this.name),
      this.problem,
      next() ? h("p", {}, h("a", { class: "button", href: next() }, "Next unreviewed trial ", h("kbd", { "aria-hidden": "true" }, "n"))) : "",
      review.history.length ? h("section", {}, h("h3", {}, "All that was said"), h("ol", { class: "review-history" }, review.history.slice().reverse().map(entry))) : "");
    if (held && held.isConnected) held.focus({ preventScroll: true });
  }

  // One after the other: what is said while the words before it are on their way is not lost. The same once
  // more is a key that was pressed twice.
  give(verdict) {
    if (this.giving === verdict) return this.given;
    this.giving = verdict;
    this.given = (this.given || Promise.resolve()).then(() => this.send(verdict)).finally(() => {
      if (this.giving === verdict) this.giving = null;
    });
    return this.given;
  }

  async send(verdict) {
    const { head, allowed, post, changed } = this.options;
    const { key, review } = head();
    if (!allowed || !review.possible || (verdict === "clear" && !review.standing)) return;
    this.problem.hidden = this.hinted.hidden = true;
    this.draw();
    try {
      // Whose verdict it is, is left open only by somebody who was asked.
      const reviewer = this.name.value.trim() || (await asked());
      if (reviewer === null) return;
      remember(reviewer);
      this.name.value = reviewer;
      const comment = this.comment.value;
      await post({ trial: key, verdict, comment: comment.trim(), reviewer });
      // What was written meanwhile is not recorded yet.
      if (this.comment.value === comment) {
        this.comment.value = "";
        keepHere(this.draft, "");
      }
      say("Recorded: " + WORDS[verdict]);
    } catch (error) {
      this.tell("It was not recorded: " + plain(error.message));
      return;
    }
    try {
      await changed();
    } catch (error) {
      this.tell("It was recorded, but can't be shown: " + plain(error.message));
      return;
    }
    this.draw();
  }

  tell(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = false;
    this.draw();
  }

  // The key that was pressed records something when it is pressed again.
  hint(key, verdict) {
    const told = "Press " + key + " again to record: " + WORDS[verdict] + ".";
    this.hinted.textContent = told;
    this.hinted.hidden = false;
    say(told);
  }

  write() {
    this.comment.focus();
  }
}
