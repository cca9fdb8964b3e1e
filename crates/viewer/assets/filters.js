// The controls that narrow down a list of trials.
//
// new Filters({menus, chips, checks, change}): menus, chips: elements to fill; checks: [[name, trials]];
//     change(query) is called with the wish.  know(facets): {level, category, fault, outcome} of {name, trials}
// alive(live)   whether trials may be running.
// draw(query)  shows what is on. What is open or has the focus stays so.

import { h, plain, clip, fill, sign } from "./dom.js";
import { count, words } from "./format.js";
import { STATES, FLAGS, LISTS, toggled } from "./query.js";

const FINDABLE = 12;
const TITLES = { level: "Level", category: "Category", check: "Failed check", fault: "Fault", flag: "Flag" };

export class Filters {
  constructor({ menus, chips, checks, change }) {
    this.chips = chips;
    this.change = change;
    this.query = null;
    this.menus = new Map();
    this.outcomes = new Map();
    this.known = "";
    this.live = false;
    this.checks = checks.map(([name, trials]) => ({ name, trials }));
    menus.append(this.outcomeGroup());
    for (const name of Object.keys(TITLES)) menus.append(this.menu(name));
    this.attempts = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.change({ ...this.query, attempts: !this.query.attempts }) }, "Every attempt");
    menus.append(this.attempts);
    document.addEventListener("click", (event) => this.shut(event.target));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.escape());
  }

  outcomeGroup() {
    const group = h("div", { class: "group outcome-group", role: "group", "aria-label": "Outcome" });
    for (const state of STATES) {
      const number = h("span", { class: "count" });
      const button = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.toggle("outcome", state) }, sign(state), state, number);
      this.outcomes.set(state, { button, number });
      group.append(button);
    }
    return group;
  }

  menu(name) {
    const sheet = h("div", { class: "sheet-of" });
    const label = h("span", {}, TITLES[name]);
    const details = h("details", { class: "menu", dataset: { name } }, h("summary", {}, label), sheet);
    details.addEventListener("toggle", () => details.open && this.shut(details));
    this.menus.set(name, { details, sheet, label, boxes: new Map() });
    return details;
  }

  toggle(name, item) {
    this.change({ ...this.query, [name]: toggled(this.query[name], item) });
  }

  // Only one menu is open, and none after a click elsewhere.
  shut(inside) {
    for (const { details } of this.menus.values()) {
      if (details.open && !details.contains(inside)) details.open = false;
    }
  }

  escape() {
    for (const { details } of this.menus.values()) {
      if (!details.open) continue;
      details.open = false;
      details.querySelector("summary").focus();
    }
  }

  alive(live) {
    if (live === this.live) return;
    this.live = live;
    if (this.query) this.draw(this.query);
  }

  know(facets) {
    const text = JSON.stringify(facets);
    if (text === this.known) return;
    this.known = text;
    for (const { name, trials } of facets.outcome || []) this.outcomes.get(name).number.textContent = count(trials);
    const lists = { ...facets, check: this.checks, flag: FLAGS.map((name) => ({ name })) };
    for (const name of this.menus.keys()) this.options(name, lists[name] || []);
  }

  options(name, list) {
    const menu = this.menus.get(name);
    menu.details.hidden = list.length < (name === "level" || name === "category" ? 2 : 1);
    menu.boxes.clear();
    const labels = list.map((one) => {
      const box = h("input", { type: "checkbox", onchange: () => this.toggle(name, one.name) });
      box.checked = Boolean(this.query && this.query[name].includes(one.name));
      menu.boxes.set(one.name, box);
      const shown = name === "check" || name === "category" ? plain(one.name) : words(one.name);
      return h("label", { dataset: { text: shown.toLowerCase() } }, box, h("span", { class: "grow" }, clip(shown, 120)), one.trials === undefined ? null : h("span", { class: "count" }, count(one.trials)));
    });
    const find = h("input", { type: "search", class: "find", placeholder: "Find", "aria-label": "Find in " + TITLES[name], autocomplete: "off" });
    find.addEventListener("input", () => {
      const wanted = find.value.toLowerCase();
      for (const label of labels) label.hidden = !label.dataset.text.includes(wanted);
    });
    fill(menu.sheet, list.length > FINDABLE ? find : null, labels);
  }

  draw(query) {
    this.query = query;
    this.outcomes.get("running").button.hidden = !this.live && !query.outcome.includes("running");
    for (const [state, { button }] of this.outcomes) button.setAttribute("aria-pressed", String(query.outcome.includes(state)));
    this.attempts.setAttribute("aria-pressed", String(query.attempts));
    for (const [name, { details, label, boxes }] of this.menus) {
      details.classList.toggle("on", query[name].length > 0);
      label.textContent = query[name].length > 0 ? TITLES[name] + " " + query[name].length : TITLES[name];
      for (const [item, box] of boxes) box.checked = query[name].includes(item);
    }
    this.drawChips(query);
  }

  drawChips(query) {
    const chips = [];
    for (const name of LISTS) {
      if (name === "outcome") continue;
      for (const item of query[name]) {
        const text = name === "check" ? "failed check " + plain(item) : name + " " + (name === "category" ? plain(item) : words(item));
        chips.push(h("button", { type: "button", class: "chip", "aria-label": "Remove the filter " + text, onclick: () => this.toggle(name, item) }, clip(text, 60)));
      }
    }
    if (chips.length > 0) {
      const none = { ...query, q: "" };
      for (const name of LISTS) none[name] = [];
      chips.push(h("button", { type: "button", class: "quiet small", onclick: () => this.change(none) }, "Clear all"));
    }
    this.chips.hidden = chips.length === 0;
    fill(this.chips, chips);
  }
}
