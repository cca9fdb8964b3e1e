// The head of the page of a trial, and the way to the trials before and after it in the list.
import { badge, byId, fill, h, plain } from "./dom.js";
import { words } from "./format.js";
import { headFacts } from "./panel.js";
import { link } from "./source.js";

export function drawHead(head) {
  const state = badge(head.state);
  state.id = "state";
  state.classList.add("boxed");
  byId("state").replaceWith(state);
  const human = head.review.standing && head.checks_say && head.state !== head.checks_say;
  fill(byId("marks"),
    human ? h("span", { class: "tag warn" }, "checks say " + head.checks_say) : null,
    head.live ? h("span", { class: "tag live-tag" }, "live") : null,
    head.flags.filter((flag) => flag !== "unreviewed").map((flag) => h("span", { class: "tag " + (["integrity", "disagreed", "operator"].includes(flag) ? "warn" : "") }, words(flag))));
  fill(byId("facts"), headFacts(head));
  const why = byId("why");
  why.hidden = !head.why;
  why.textContent = plain(head.why);
  why.title = plain(head.why);
  const problems = byId("problems");
  problems.hidden = !head.problems.length;
  fill(problems, head.problems.map((one) => h("li", { class: "grave" }, plain(one))));
}

export function drawWalk(run, neighbours, query) {
  const { previous, next } = neighbours;
  const way = (key, label, letter) => (key
    ? h("a", { class: "button", href: link("trial", run, key, query), title: plain(key.task) + " (" + letter + ")" }, label)
    : h("button", { type: "button", disabled: true }, label));
  fill(byId("walk"), h("span", { class: "group" }, way(previous, "‹ Previous trial", "k"), way(next, "Next trial ›", "j")));
  const crumb = document.querySelector(".crumbs li:nth-last-child(2) a");
  if (crumb && Object.keys(query).length) crumb.href = link("run", run, query);
}
