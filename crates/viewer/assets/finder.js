// Finds steps by words of what was done. Thoughts and output are not searched, and the box says so.
import { h, plain } from "./dom.js";
import { counted } from "./format.js";
import { wrong } from "./timeline.js";

export class Finder {
  // `options`: {index, at() -> the step that is shown, go(n)}
  constructor(options) {
    this.options = options;
    this.input = h("input", { type: "search", class: "finder", placeholder: "Find action", "aria-label": "Find in actions", title: "Find in actions, as the list of steps tells them, not in thoughts or output (/); Enter for the next", autocomplete: "off", spellcheck: "false" });
    this.words = h("output", { class: "finder-words small soft" });
    this.input.addEventListener("input", () => this.find(0));
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.find(event.shiftKey ? -1 : 1);
    });
    this.element = h("span", { class: "finder-box" }, this.words, this.input);
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  // `by`: 0 this step or a later one, 1 a later one, -1 an earlier one; around the end.
  async find(by) {
    const { index, at, go } = this.options;
    const wanted = this.input.value.trim().toLowerCase();
    const asked = (this.asked = {});
    if (!wanted) {
      this.words.textContent = "";
      return;
    }
    try {
      await index.all();
    } catch (error) {
      if (asked === this.asked) this.words.textContent = plain(error.message);
      return;
    }
    if (asked !== this.asked) return;
    const fits = (row) => row && (row.brief.toLowerCase().includes(wanted) || row.kind.includes(wanted) || wrong(row) === wanted);
    const found = [];
    for (let n = 0; n < index.total; n += 1) if (fits(index.at(n))) found.push(n);
    if (!found.length) {
      this.words.textContent = "no action";
      this.words.title = "Thoughts and output are not searched";
      return;
    }
    const here = at();
    const next = by < 0 ? found.filter((n) => n < here).pop() ?? found[found.length - 1] : found.find((n) => (by ? n > here : n >= here)) ?? found[0];
    this.words.textContent = found.indexOf(next) + 1 + "/" + found.length;
    this.words.title = counted(found.length, "step");
    if (next !== here) go(next);
  }
}
