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
    this.chipped = "";
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
    this.menus.set(name, { details, sheet, label, boxes: new Map(), names: "", find: null });
    return details;
  }

  toggle(name, item) {
    this.change({ ...this.query, [name]: toggled(this.query[name], item) });
  }

  clear() {
    const none = { ...this.query, q: "" };
    for (const name of LISTS) none[name] = [];
    this.change(none);
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

  // Where the names are as before, only the numbers change: a box that has the focus keeps it.
  options(name, list) {
    const menu = this.menus.get(name);
    menu.details.hidden = list.length < (name === "level" || name === "category" ? 2 : 1);
    const names = JSON.stringify(list.map((one) => one.name));
    if (names !== menu.names) {
      menu.names = names;
      this.rebuild(name, list);
    }
    for (const one of list) {
      if (one.trials !== undefined) menu.boxes.get(one.name).number.textContent = count(one.trials);
    }
  }

  rebuild(name, list) {
    const menu = this.menus.get(name);
    const held = [...menu.boxes].find(([, { box }]) => box === document.activeElement);
    const sought = menu.find && { text: menu.find.value, focus: menu.find === document.activeElement };
    menu.boxes.clear();
    const labels = list.map((one) => {
      const box = h("input", { type: "checkbox", onchange: () => this.toggle(name, one.name) });
      box.checked = Boolean(this.query && this.query[name].includes(one.name));
      const number = h("span", { class: "count" });
      menu.boxes.set(one.name, { box, number });
      const shown = name === "check" || name === "category" ? plain(one.name) : words(one.name);
      return h("label", { dataset: { text: shown.toLowerCase() } }, box, h("span", { class: "grow" }, clip(shown, 120)), one.trials === undefined ? null : number);
    });
    const find = h("input", { type: "search", class: "find", placeholder: "Find", "aria-label": "Find in " + TITLES[name], autocomplete: "off" });
    const narrow = () => {
      const wanted = find.value.toLowerCase();
      for (const label of labels) label.hidden = !label.dataset.text.includes(wanted);
    };
    find.addEventListener("input", narrow);
    menu.find = list.length > FINDABLE ? find : null;
    fill(menu.sheet, menu.find, labels);
    if (sought && menu.find) {
      find.value = sought.text;
      narrow();
      if (sought.focus) find.focus();
    }
    const again = held && menu.boxes.get(held[0]);
    if (again) again.box.focus();
  }

  draw(query) {
    this.query = query;
    this.outcomes.get("running").button.hidden = !this.live && !query.outcome.includes("running");
    for (const [state, { button }] of this.outcomes) button.setAttribute("aria-pressed", String(query.outcome.includes(state)));
    this.attempts.setAttribute("aria-pressed", String(query.attempts));
    for (const [name, { details, label, boxes }] of this.menus) {
      details.classList.toggle("on", query[name].length > 0);
      label.textContent = query[name].length > 0 ? TITLES[name] + " " + query[name].length : TITLES[name];
      for (const [item, { box }] of boxes) box.checked = query[name].includes(item);
    }
    this.drawChips(query);
  }

  drawChips(query) {
    const text = JSON.stringify(LISTS.map((name) => query[name]));
    if (text === this.chipped) return;
    this.chipped = text;
    const chips = [];
    for (const name of LISTS) {
      if (name === "outcome") continue;
      for (const item of query[name]) {
        const text = name === "check" ? "failed check " + plain(item) : name + " " + (name === "category" ? plain(item) : words(item));
        chips.push(h("button", { type: "button", class: "chip", "aria-label": "Remove the filter " + text, onclick: () => this.toggle(name, item) }, clip(text, 60)));
      }
    }
    if (chips.length > 0) {
      chips.push(h("button", { type: "button", class: "quiet small", onclick: () => this.clear() }, "Clear all"));
    }
    this.chips.hidden = chips.length === 0;
    fill(this.chips, chips);
  }
}
