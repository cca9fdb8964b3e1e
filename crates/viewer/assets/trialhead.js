// The head of the page of a trial, and the way to the trials before and after it in the list.
import { badge, byId, fill, h, plain } from "./dom.js";
import { count, words } from "./format.js";
import { headFacts } from "./panel.js";
import { link } from "./source.js";

// `query`: the list that it was opened from. `lost`: small pictures that turned out not to be shown.
export function drawHead(head, query, lost) {
  const state = badge(head.state);
  state.id = "state";
  state.classList.add("boxed");
  byId("state").replaceWith(state);
  const human = head.review.standing && head.checks_say && head.state !== head.checks_say;
  fill(byId("marks"),
    human ? h("span", { class: "tag warn" }, head.checks_say === "faulted" ? "faulted, no check counts" : "checks say " + head.checks_say) : null,
    head.live ? h("span", { class: "tag live-tag" }, "live") : null,
    head.flags.filter((flag) => flag !== "unreviewed").map((flag) => h("span", { class: "tag " + (["integrity", "disagreed", "operator"].includes(flag) ? "warn" : "") }, words(flag))));
  fill(byId("facts"), headFacts(head, query));
  const why = byId("why");
  why.hidden = !head.why;
  why.textContent = plain(head.why);
  why.title = plain(head.why);
  drawProblems(head, lost);
}

export function drawProblems(head, lost) {
  const found = lost ? ["Pictures found so far that can't be shown, because they are missing or are not what was recorded: " + count(lost) + "."] : [];
  const told = [...head.problems, ...found];
  const problems = byId("problems");
  problems.hidden = !told.length;
  fill(problems, told.map((one) => h("li", { class: "grave" }, plain(one))));
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
