// The screen of a step: its picture, what the agent did drawn over it, and what changed. Draws what it is
// given; knows neither steps nor servers.
import { h, plain } from "./dom.js";
import { bytes } from "./format.js";
import { marks } from "./overlay.js";
import { difference } from "./difference.js";

const KEPT = 24;
// What is larger is a download (serve/pictures.rs).
const LARGEST = 64 << 20;
const LOST = "It is missing from the run folder, or is not what was recorded.";
const SMALL = "img.step-thumb, .event-picture img";

// Small pictures below `place` that can't be shown get a sign of the page's own, whoever put them there.
// `told(number)`: of how many different ones it is known by now.
export function signLost(place, told) {
  const lost = new Set();
  const fails = ({target}) => {
    if (!target.matches(SMALL)) return;
    target.replaceWith(h("span", {class: target.className + " lost", title: LOST}, "can't be shown"));
    lost.add(target.src);
    told(lost.size);
  };
  // What went wrong with a picture does not bubble.
  place.addEventListener("error", fails, true);
}

// Pictures that are decoded, so that showing one takes no longer than a frame. The oldest is given up.
export class Pictures {
  constructor(address) {
    this.address = address;
    this.known = new Map();
  }

  // Resolves to an image that can be drawn at once; fails where the picture can't be had.
  load(digest) {
    let entry = this.known.get(digest);
    if (entry) {
      this.known.delete(digest);
      this.known.set(digest, entry);
      return entry.promise;
    }
    const image = new Image();
    image.decoding = "async";
    image.fetchPriority = "high";
    entry = {image, ready: false};
    image.src = this.address(digest);
    entry.promise = image.decode().then(() => {
      entry.ready = true;
      return image;
    });
    entry.promise.catch(() => this.known.delete(digest));
    this.known.set(digest, entry);
    while (this.known.size > KEPT) this.known.delete(this.known.keys().next().value);
    return entry.promise;
  }

  // The image if it is there already.
  now(digest) {
    const entry = this.known.get(digest);
    return entry && entry.ready ? entry.image : null;
  }
}

// `view` is what is shown: {shot, other, action, mode, alt}. `mode`: `before`, `after` or `difference`.
export class Screen {
  constructor(pictures) {
    this.pictures = pictures;
    this.zoom = "fit";
    this.marked = true;
    this.turn = 0;
    this.view = null;
    // The picture of the view could not be had.
    this.lost = false;
    this.image = h("img", {class: "screen-image", alt: "", draggable: "false"});
    this.canvas = h("canvas", {class: "screen-canvas", hidden: true, "aria-hidden": "true"});
    this.marks = h("div", {class: "screen-marks", "aria-hidden": "true"});
    this.box = h("div", {class: "screen-box"}, this.image, this.canvas, this.marks);
    this.nothing = h("p", {class: "screen-nothing", hidden: true});
    this.element = h("div", {class: "screen-area", tabindex: "0", role: "group", "aria-label": "Screen"}, this.box, this.nothing);
    new ResizeObserver(() => this.place()).observe(this.element);
    this.pan();
  }

  // Shows a view; resolves to whether it is on the screen (and was not overtaken by another).
  async show(view) {
    this.view = view;
    this.lost = false;
    const turn = ++this.turn;
    const shot = view.shot;
    if (!shot) {
      this.empty(view.missing || "There is no screen at this step.");
      return true;
    }
    if (shot.picture.bytes > LARGEST) {
      const file = h("a", {href: this.pictures.address(shot.picture.blob), download: ""}, "Download it");
      this.empty(`The picture of this screen is too large to be shown: ${bytes(shot.picture.bytes)}. `, file);
      return false;
    }
    let image = this.pictures.now(shot.picture.blob);
    try {
      image = image || (await this.pictures.load(shot.picture.blob));
    } catch {
      if (turn !== this.turn) return false;
      this.lost = true;
      this.empty("The picture of this screen can't be shown: it is missing from the run folder, or is not what was recorded.");
      return false;
    }
    if (turn !== this.turn) return false;
    this.nothing.hidden = true;
    this.box.hidden = false;
    if (this.image.src !== image.src) this.image.src = image.src;
    this.image.alt = plain(view.alt || "");
    this.width = shot.width || image.naturalWidth;
    this.height = shot.height || image.naturalHeight;
    this.place();
    if (view.mode === "difference") return this.differ(turn);
    this.canvas.hidden = true;
    return true;
  }

  async differ(turn) {
    const {shot, other} = this.view;
    this.canvas.hidden = true;
    if (!other) return true;
    let images;
    try {
      images = await Promise.all([this.pictures.load(other.picture.blob), this.pictures.load(shot.picture.blob)]);
    } catch {
      return false;
    }
    if (turn !== this.turn) return false;
    const found = difference(this.canvas, images[0], images[1]);
    this.canvas.hidden = false;
    this.found = found;
    return true;
  }

  empty(...words) {
    this.box.hidden = true;
    this.nothing.hidden = false;
    this.nothing.replaceChildren(...words);
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.place();
  }

  setMarked(marked) {
    this.marked = marked;
    this.place();
  }

  // Size of the picture in the room that there is, and marks in that size.
  place() {
    if (!this.view || !this.view.shot || !this.width) return;
    const room = this.element;
    const fit = Math.min(room.clientWidth / this.width, room.clientHeight / this.height);
    // Small screens are drawn larger, by whole pixels where that fits.
    const scale = this.zoom === "fit" ? (fit >= 2 ? Math.floor(fit) : fit) : this.zoom;
    if (!(scale > 0)) return;
    this.box.style.width = `${Math.round(this.width * scale)}px`;
    this.box.style.height = `${Math.round(this.height * scale)}px`;
    this.box.classList.toggle("enlarged", scale >= 1.5);
    room.classList.toggle("zoomed", this.zoom !== "fit");
    this.marks.replaceChildren();
    if (this.marked && this.view.mode !== "difference") {
      this.marks.append(...marks(this.view, this.width, this.height, scale));
    }
  }

  // An enlarged screen is moved by dragging it.
  pan() {
    let from = null;
    this.element.addEventListener("pointerdown", (event) => {
      if (this.zoom === "fit" || event.button !== 0) return;
      from = {x: event.clientX + this.element.scrollLeft, y: event.clientY + this.element.scrollTop};
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.element.scrollLeft = from.x - event.clientX;
      this.element.scrollTop = from.y - event.clientY;
    });
    const end = () => (from = null);
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
  }
}
