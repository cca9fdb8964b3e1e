// What checks and judges say about a trial, with links to the steps that they point at.
import { h, plain, sign } from "./dom.js";
import { count, counted, money, percent, value, words } from "./format.js";
import { fact, leftOut, opening, tag, text } from "./blocks.js";
import { predictionView } from "./prediction.js";

function output(out) {
  return opening(h("span", {}, "Output ", tag(plain(out.exit), /(^|\D)0$/.test(out.exit) ? "good" : "")), () =>
    h("div", {}, out.stdout ? text(out.stdout, { kind: "output" }) : null, out.stderr ? text(out.stderr, { kind: "output bad" }) : null, leftOut(out.omitted), out.stdout || out.stderr ? null : h("p", { class: "soft" }, "It printed nothing.")));
}

function cited(one, go) {
  const step = Number(one.step);
  const link = one.step === undefined || one.step === null ? null : go ? h("button", { type: "button", class: "step-link", onclick: () => go(step) }, "step " + step) : h("span", { class: "soft" }, "step " + step);
  return h("li", {}, link, " ", plain(one.what));
}

function vote(one, at, of, go) {
  return h("li", { class: "vote" },
    h("div", { class: "event-line" }, sign(one.passed ? "passed" : "failed"), h("strong", {}, one.passed ? "pass" : "fail"), of > 1 ? h("span", { class: "soft" }, "vote " + (at + 1)) : null, fact("confidence", percent(one.confidence))),
    text(one.reasoning, { kind: "thought", most: 12 }),
    (one.evidence || []).length ? h("ul", { class: "evidence" }, one.evidence.map((each) => cited(each, go))) : null);
}

function judged(said, go) {
  const passed = said.votes.filter((one) => one.passed).length;
  const usage = said.usage || {};
  return h("div", { class: "judged" },
    h("div", { class: "event-line" }, h("span", { class: "event-name" }, "Judge"), h("strong", {}, plain(said.model)),
      said.votes.length > 1 ? tag(passed + " of " + said.votes.length + " say pass", passed && passed < said.votes.length ? "warn" : "") : null,
      said.frames ? fact("saw", count(said.frames.shown) + " of " + counted(said.frames.of, "changed screen")) : null,
      usage.money !== undefined && usage.money !== null ? fact("cost", money(usage.money / 1e6)) : null),
    (said.suspicious || []).length ? h("div", { class: "problem" }, "The evidence gives orders to a judge:", h("ul", { class: "plain-list" }, said.suspicious.map((one) => h("li", {}, h("q", {}, plain(one)))))) : null,
    h("ol", { class: "votes" }, said.votes.map((one, at) => vote(one, at, said.votes.length, go))));
}

// One result with its parts. `go` shows a step; none: steps are no links. `asked`: what a model was asked,
// for the picture of a prediction.
export function checkResult(check, go, asked) {
  const state = check.passed ? "passed" : "failed";
  const partly = check.score > 0 && check.score < 1;
  return h("div", { class: "check is-check-" + state },
    h("div", { class: "event-line" }, sign(state), h("strong", { class: "check-name" }, plain(check.check)), h("span", { class: "unseen" }, state),
      partly ? fact("score", percent(check.score)) : null,
      check.weight !== 1 ? fact("weight", value(check.weight)) : null,
      check.value === undefined || check.value === null ? null : fact("measured", value(check.value)),
      check.tainted ? tag("tainted", "warn") : null),
    check.reason ? text(check.reason, { kind: "reason", most: 10 }) : null,
    check.integrity ? h("p", { class: "problem" }, "Signs of tampering: " + plain(check.integrity)) : null,
    check.judged ? judged(check.judged, go) : null,
    check.output ? output(check.output) : null,
    check.prediction ? predictionView(check.prediction, asked) : null,
    (check.parts || []).length ? h("div", { class: "check-parts" }, check.parts.map((part) => checkResult(part, go, asked))) : null);
}

// The tab: verdict, why, and every check; what did not pass comes first.
export function checksPanel(head, ctx) {
  const failed = head.checks.filter((check) => !check.passed);
  const passed = head.checks.filter((check) => check.passed);
  const verdict = head.checks_say;
  return h("div", { class: "checks" },
    verdict ? h("div", { class: "verdict is-check-" + verdict }, h("div", { class: "event-line" }, sign(verdict), h("strong", {}, verdict === "faulted" ? "Faulted: no check counts" : "The checks say " + plain(verdict)),
      head.checks_score === null || head.checks_score === undefined ? null : fact("score", percent(head.checks_score)),
      head.measured === null || head.measured === undefined ? null : fact("measured", value(head.measured)))) : h("p", { class: "soft" }, head.live ? "The trial is still being played." : "There is no verdict."),
    head.fault ? h("div", { class: "check" }, h("div", { class: "event-line" }, sign("faulted"), h("strong", {}, "Fault: " + words(plain(head.fault.class)))), text(head.fault.message, { kind: "bad" })) : null,
    head.integrity ? h("p", { class: "problem" }, "Signs of tampering: " + plain(head.integrity)) : null,
    failed.map((check) => checkResult(check, ctx.go, ctx.asked)),
    passed.map((check) => checkResult(check, ctx.go, ctx.asked)));
}
