// A list of which only the rows near the viewport are in the page.
//
// new Rows(options): {
//   body: the element that holds the rows (becomes position: relative and as high as all of them),
//   scroller: the element that scrolls, or null where the page itself does,
//   height: pixels of a row,
//   render(item, index) -> element of a row; it is placed by the list,
//   load(offset, count) -> Promise of {total, rows}   (left out: all items are given to `show`),
//   key(item) -> string   (what stays selected when the list changes; left out: the place),
//   top: pixels at the top of the viewport that something sticky covers, number or function (0),
//   page: rows asked for at once (200), over: rows drawn beyond the viewport (12),
//   ahead: how many pages before and after the visible ones are asked for too (1),
//   empty() -> node to show where there is nothing,
//   changed(total), picked(item, index), failed(error)  (left out or functions) }
//
// show({total, offset, rows})  another list: what is known of it; keeps the place only if it is asked to by
//     show(page, {keep: true}).
// again()         asks again for what is seen, without losing place, selection or focus.
// pick(index, {focus, scroll})  selects a row: class "current", aria-current (aria-selected of role option); focus goes to the element
//     [data-focus] of it.  step(by)  the next or previous one.  index, item: the selected one.
// at(index)       an item, if it is known.  scrollTo(index)  makes a row visible.  total
// redraw()        draws what is seen anew (columns changed).

// Browsers draw nothing that is further down than 17 to 33 million pixels. A list that is longer than this is
// scrolled in larger steps than a hand makes.
const TALLEST = 8000000;

export class Rows {
  constructor(options) {
    this.options = { page: 200, over: 12, top: 0, ahead: 1, ...options };
    this.total = 0;
    this.index = -1;
    this.item = null;
    this.pages = new Map();
    this.drawn = new Map();
    // Rises with every change of what is known: what was asked for before a change is not taken in after it.
    this.generation = 0;
    this.turn = 0;
    // The selected row gets the focus once it is known.
    this.owed = false;
    this.frame = 0;
    // Pixels by which rows stand higher than in a list that is as tall as all of them.
    this.shift = 0;
    const { body, scroller } = this.options;
    body.style.position = "relative";
    this.notice = null;
    const target = scroller || window;
    this.seen = () => this.soon();
    target.addEventListener("scroll", this.seen, { passive: true });
    window.addEventListener("resize", this.seen, { passive: true });
    this.observer = new ResizeObserver(this.seen);
    this.observer.observe(scroller || document.body);
  }

  show(page, how) {
    this.generation += 1;
    this.pages.clear();
    this.take(page);
    if (how && how.keep) {
      this.follow();
    } else {
      this.index = -1;
      this.item = null;
      this.owed = false;
      this.clear();
    }
    this.measure();
    // Rows that are as they were stay: somebody may be about to click one. Otherwise what is seen comes first.
    if (this.drawn.size > 0) this.draw(true);
    else this.draw(false, 1);
    this.soon();
  }

  async again() {
    const { load, page } = this.options;
    if (!load) return;
    const { generation } = this;
    const turn = ++this.turn;
    const [from, to] = this.window();
    const first = Math.floor(from / page);
    const last = Math.floor(Math.max(from, to - 1) / page);
    const wanted = [];
    for (let at = first; at <= last; at += 1) wanted.push(load(at * page, page));
    const found = await Promise.all(wanted);
    if (generation !== this.generation || turn !== this.turn) return;
    this.generation += 1;
    this.pages.clear();
    found.forEach((one, at) => this.take({ ...one, offset: (first + at) * page }));
    this.measure();
    this.follow();
    this.draw(true);
  }

  // What was selected may stand in another place now.
  follow() {
    const { key } = this.options;
    if (!key || !this.item) return;
    const name = key(this.item);
    for (const [number, rows] of this.pages) {
      const at = rows.findIndex((row) => row && key(row) === name);
      if (at >= 0) {
        this.index = number * this.options.page + at;
        this.item = rows[at];
        return;
      }
    }
  }

  take({ total, offset = 0, rows }) {
    const { page } = this.options;
    this.total = total ?? rows.length;
    rows.forEach((row, at) => {
      const place = offset + at;
      const number = Math.floor(place / page);
      if (!this.pages.has(number)) this.pages.set(number, []);
      this.pages.get(number)[place % page] = row;
    });
    if (this.index >= 0 && !this.item) this.item = this.at(this.index) || null;
    if (this.options.changed) this.options.changed(this.total);
  }

  at(index) {
    const { page } = this.options;
    const rows = this.pages.get(Math.floor(index / page));
    return rows && rows[index % page];
  }

  covered() {
    const { top } = this.options;
    return typeof top === "function" ? top() : top;
  }

  measure() {
    const { body, height, empty } = this.options;
    body.style.height = Math.min(this.total * height, TALLEST) + "px";
    const table = body.closest("[role=table], [role=grid]");
    if (table) table.setAttribute("aria-rowcount", this.total + 1);
    const notice = this.total === 0 && empty ? empty() : null;
    // One that says the same stays, for whoever is about to click in it.
    if (notice && this.notice && notice.isEqualNode(this.notice)) return;
    if (this.notice) this.notice.remove();
    this.notice = notice;
    if (notice) (table || body).after(notice);
  }

  // Where the list is looked at: pixels from its top, and how many of them.
  view() {
    const { body, scroller } = this.options;
    const rect = body.getBoundingClientRect();
    const frame = scroller ? scroller.getBoundingClientRect() : { top: 0, bottom: window.innerHeight };
    return { frame, top: frame.top - rect.top, tall: frame.bottom - frame.top };
  }

  // First and one past the last row that can be seen.
  window() {
    const { height } = this.options;
    const { top, tall } = this.view();
    const all = this.total * height;
    const room = Math.max(1, TALLEST - tall);
    this.shift = all > TALLEST ? Math.round(Math.max(0, Math.min(1, top / room)) * (all - TALLEST)) : 0;
    const from = Math.floor((top + this.shift) / height);
    const to = Math.ceil((top + this.shift + tall) / height);
    return [Math.max(0, Math.min(from, this.total)), Math.max(0, Math.min(to, this.total))];
  }

  soon() {
    if (this.frame) return;
    this.frame = window.requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  redraw() {
    this.clear();
    this.draw();
  }

  clear() {
    for (const { element } of this.drawn.values()) element.remove();
    this.drawn.clear();
  }

  draw(anew, over = this.options.over) {
    const { body } = this.options;
    const [from, to] = this.window();
    const [first, end] = [Math.max(0, from - over), Math.min(this.total, to + over)];
    for (const [index, { element }] of this.drawn) {
      const outside = index < first || index >= end;
      // What has the focus stays: it would be lost with the row.
      if (outside && (index >= this.total || !element.contains(document.activeElement))) {
        element.remove();
        this.drawn.delete(index);
      }
    }
    const fresh = document.createDocumentFragment();
    for (let index = first; index < end; index += 1) {
      const item = this.at(index);
      const old = this.drawn.get(index);
      if (old && old.item === item) continue;
      if (old && anew && old.item && item && JSON.stringify(old.item) === JSON.stringify(item)) {
        old.item = item;
        continue;
      }
      const element = this.make(item, index);
      this.drawn.set(index, { element, item });
      if (old) this.swap(old.element, element);
      else fresh.append(element);
    }
    body.append(fresh);
    for (const [index, { element }] of this.drawn) {
      this.put(element, index);
      this.mark(element, index === this.index);
    }
    this.settle();
    this.ask(first, end);
  }

  // Gives the selected row the focus that it is owed, unless something else has got it meanwhile.
  settle() {
    const row = this.owed && this.drawn.get(this.index);
    if (!row || row.item === undefined) return;
    this.owed = false;
    const held = document.activeElement;
    if (held && held !== document.body && !this.options.body.contains(held)) return;
    (row.element.querySelector("[data-focus]") || row.element).focus({ preventScroll: true });
  }

  make(item, index) {
    const { render, height } = this.options;
    let element;
    if (item === undefined) {
      element = document.createElement("div");
      element.className = "row waiting";
      element.setAttribute("aria-hidden", "true");
    } else {
      element = render(item, index);
    }
    element.style.position = "absolute";
    element.style.top = "0";
    element.style.left = "0";
    element.style.right = "0";
    element.style.height = height + "px";
    this.put(element, index);
    const role = element.getAttribute("role");
    // The head of a table is its first row.
    if (role === "row") element.setAttribute("aria-rowindex", index + 2);
    else if (role) {
      element.setAttribute("aria-posinset", index + 1);
      element.setAttribute("aria-setsize", this.total);
    }
    return element;
  }

  put(element, index) {
    const way = "translateY(" + (index * this.options.height - this.shift) + "px)";
    if (element.style.transform !== way) element.style.transform = way;
  }

  swap(old, element) {
    const held = old.contains(document.activeElement);
    old.replaceWith(element);
    const target = held && (element.querySelector("[data-focus]") || element);
    if (target) target.focus({ preventScroll: true });
  }

  mark(element, current) {
    if (element.classList.contains("current") === current) return;
    element.classList.toggle("current", current);
    if (element.getAttribute("role") === "option") element.setAttribute("aria-selected", String(current));
    else if (current) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }

  ask(first, end) {
    const { load, page, ahead } = this.options;
    if (!load || this.total === 0) return;
    const from = Math.max(0, Math.floor(first / page) - ahead);
    const to = Math.min(Math.floor((this.total - 1) / page), Math.floor(Math.max(first, end - 1) / page) + ahead);
    for (let number = from; number <= to; number += 1) {
      const rows = this.pages.get(number);
      const least = Math.min(page, this.total - number * page);
      let known = rows ? rows.length >= least : false;
      for (let at = 0; known && at < least; at += 1) known = rows[at] !== undefined;
      if (known || (rows && rows.asked === this.generation)) continue;
      const waiting = rows || [];
      waiting.asked = this.generation;
      this.pages.set(number, waiting);
      this.fetch(number, this.generation);
    }
  }

  async fetch(number, generation) {
    const { load, page } = this.options;
    try {
      const found = await load(number * page, page);
      if (generation !== this.generation) return;
      const grown = found.total !== this.total;
      this.pages.set(number, []);
      this.take({ ...found, offset: number * page });
      if (grown) this.measure();
      this.draw();
    } catch (error) {
      // Nobody waits for it any more.
      if (generation !== this.generation) return;
      const rows = this.pages.get(number);
      // Asked again when it is looked at again.
      if (rows) rows.asked = undefined;
      if (this.options.failed) this.options.failed(error);
    }
  }

  pick(index, how) {
    if (this.total === 0) return;
    const { focus = true, scroll = true } = how || {};
    this.index = Math.max(0, Math.min(index, this.total - 1));
    this.item = this.at(this.index) || null;
    if (scroll) this.scrollTo(this.index);
    this.draw();
    const row = this.drawn.get(this.index);
    this.owed = focus && (!row || row.item === undefined);
    if (row && focus && !this.owed) (row.element.querySelector("[data-focus]") || row.element).focus({ preventScroll: true });
    if (this.options.picked && this.item) this.options.picked(this.item, this.index);
  }

  step(by) {
    const [from, to] = this.window();
    if (this.index < 0) this.pick(by > 0 ? from : Math.max(from, to - 1));
    else this.pick(this.index + by);
  }

  scrollTo(index) {
    const { scroller, height } = this.options;
    this.window();
    const { frame, top: from, tall } = this.view();
    const top = frame.top - from + index * height - this.shift;
    const above = frame.top + this.covered() + 4;
    const below = frame.bottom - 8;
    let by = 0;
    if (top < above) by = top - above;
    else if (top + height > below) by = top + height - below;
    // Of a list that is scrolled in larger steps, a part of it will do; a browser scrolls by whole pixels.
    if (this.total * height > TALLEST) by = Math.sign(by) * Math.ceil((Math.abs(by) * (TALLEST - tall)) / (this.total * height - tall));
    if (by !== 0) (scroller || window).scrollBy({ top: by, behavior: "instant" });
  }
}
