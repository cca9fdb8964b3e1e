// The columns of a table of trials.
//
// columns({epochs, attempts, measured, tokens, cost})  those that are shown; template(columns)  their widths;
// head(columns, query, sort)  header cells: sort(key, desc) is called; row(columns, item, address, opened)
// HEIGHT: of a row.

import { h, plain, badge } from "./dom.js";
import { NONE, percent, duration, short, count, money, value, words, time, when } from "./format.js";

export const HEIGHT = 32;
// Letters of a category that leave room for the task.
const LONG = 20;

// What a flag tells, and how much it matters.
const FLAGS = {
  reviewed: ["reviewed", "tag good", "A person has looked at it"],
  disagreed: ["disagreed", "tag warn", "A person says something else than the checks"],
  integrity: ["integrity", "tag bad", "Signs of tampering"],
  tainted: ["tainted", "tag warn", "A check ran where the agent had been"],
  retried: ["retried", "tag", "Came after a fault of an earlier attempt"],
  rerun: ["rerun", "tag", "Run or graded again on demand"],
  elsewhere: ["elsewhere", "tag", "Played by a runner in an environment of its own"],
  operator: ["stopped", "tag warn", "Stopped by an operator"],
};

const ALL = [
  { name: "State", sort: "outcome", width: "84px", cell: (item) => h("div", { class: "cell", role: "cell" }, badge(item.state)) },
  { name: "Task", sort: "task", width: "minmax(110px, 1.3fr)", cell: task },
  { name: "Level", sort: "level", width: "56px", cell: (item) => text(item.level || NONE) },
  { name: "Epoch", only: "epochs", number: true, width: "44px", cell: (item) => number(item.epoch) },
  { name: "Attempt", only: "attempts", number: true, width: "52px", cell: (item) => number(item.attempt || NONE) },
  { name: "Score", sort: "score", most: true, number: true, width: "60px", cell: (item) => number(percent(item.score)) },
  { name: "Measured", only: "measured", sort: "measured", most: true, number: true, width: "72px", cell: (item) => number(value(item.measured)) },
  { name: "Steps", sort: "steps", most: true, number: true, width: "48px", cell: (item) => number(item.steps === null ? NONE : count(item.steps)) },
  { name: "Time", sort: "seconds", most: true, number: true, width: "minmax(72px, var(--time, 120px))", cell: spent },
  { name: "Tokens", only: "tokens", sort: "tokens", most: true, number: true, width: "56px", cell: (item) => number(item.tokens > 0 ? short(item.tokens) : NONE, item.tokens > 0 ? count(item.tokens) : "") },
  { name: "Cost", only: "cost", sort: "cost", most: true, number: true, width: "64px", cell: (item) => number(money(item.money, item.unpriced), item.unpriced ? "Some calls have no known price" : "") },
  { name: "Ended", sort: "ended", most: true, number: true, width: "64px", cell: (item) => number(time(item.at), item.at ? when(item.at) : "") },
  { name: "Why", width: "minmax(80px, 1fr)", cell: why },
];

export function columns(has) {
  return ALL.filter((one) => !one.only || has[one.only]);
}

export function template(shown) {
  return shown.map((one) => one.width).join(" ");
}

export function head(shown, query, sort) {
  return shown.map((one) => {
    const attrs = { class: one.number ? "th number" : "th", role: "columnheader" };
    if (!one.sort) return h("div", attrs, one.name);
    const active = one.sort === query.sort && (query.sort !== "ended" || query.desc);
    const order = active ? (query.desc ? "descending" : "ascending") : "none";
    const next = () => {
      if (!active) sort(one.sort, Boolean(one.most));
      else if (query.desc === Boolean(one.most)) sort(one.sort, !query.desc);
      else sort("ended", false);
    };
    // The order in which they ended is there without being asked for.
    const turn = one.sort === "ended" ? () => sort("ended", !query.desc) : next;
    return h("div", { ...attrs, "aria-sort": order }, h("button", { type: "button", onclick: turn, dataset: { sort: one.sort } }, one.name));
  });
}

function text(content) {
  return h("div", { class: "cell", role: "cell" }, plain(content));
}

function number(content, title) {
  return h("div", { class: "cell number", role: "cell", title: title || null }, content);
}

function task(item, address, opened) {
  const label = plain(item.task);
  const name = plain(item.name);
  // However long the category is, something of the task itself is seen.
  const cut = label.indexOf("/") + 1;
  const parts = cut > LONG ? [h("span", { class: "in" }, label.slice(0, cut)), label.slice(cut)] : label;
  const target = address ? h("a", { href: address, "data-focus": true, onclick: opened }, parts) : h("span", { class: "soft", tabindex: "-1", "data-focus": true }, parts);
  return h("div", { class: "cell task", role: "cell", title: name && name !== label ? label + "\n" + name : label }, target, name && name !== label ? h("span", { class: "name" }, name) : null);
}

function spent(item) {
  const { agent, environment, harness } = item.seconds;
  const total = agent + environment + harness;
  if (item.attempt === 0 || total <= 0) return number(NONE);
  const part = (name, seconds) => h("span", { class: "f-" + name, style: { width: (100 * seconds) / total + "%" } });
  const told = "agent " + duration(agent) + ", environment " + duration(environment) + ", harness " + duration(harness);
  return h(
    "div",
    { class: "cell time", role: "cell", title: told },
    h("span", { class: "split", "aria-hidden": "true" }, part("agent", agent), part("environment", environment), part("harness", harness)),
    h("span", {}, duration(total)),
  );
}

function why(item) {
  const tags = item.flags.filter((flag) => FLAGS[flag]).map((flag) => h("span", { class: FLAGS[flag][1], title: FLAGS[flag][2] }, FLAGS[flag][0]));
  const said = item.checks ? "checks say " + item.checks : "";
  const end = item.end && item.end !== "finished" && item.state !== "passed" ? words(item.end) : "";
  const reason = [said, end, plain(item.why)].filter(Boolean).join("; ");
  const title = [item.flags.filter((flag) => FLAGS[flag]).map((flag) => FLAGS[flag][0]).join(", "), reason].filter(Boolean).join("\n");
  return h("div", { class: "cell why", role: "cell", title }, tags.length > 0 ? h("span", { class: "tags" }, tags) : null, h("span", { class: "reason" }, reason));
}

export function row(shown, item, address, opened) {
  const cells = shown.map((one) => one.cell(item, address, opened));
  return h("div", { class: "row", role: "row" }, cells);
}
