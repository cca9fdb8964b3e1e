// The middle of the page of a trial with screens: the screen, what is drawn on it, and the choice between
// before, after and difference.
import { clip, h, keep, kept, plain } from "./dom.js";
import { count, percent } from "./format.js";
import { stamp } from "./blocks.js";
import { Pictures, Screen } from "./picture.js";

function actionOf(step) {
  const event = step.events.find((one) => one.kind === "action");
  return event ? event.action : null;
}

// A step that did not change the screen, or has none of its own: one picture is all there is.
function pair(step) {
  return { before: step.before || step.after, after: step.after || step.before };
}

export class Stage {
  // `picture(digest)`: the address of a picture.
  constructor(element, picture) {
    this.pictures = new Pictures(picture);
    this.screen = new Screen(this.pictures);
    this.mode = "before";
    // What is on the screen: `mode`, unless another one was asked for this time only.
    this.drawn = "before";
    this.step = null;
    this.wanted = null;
    this.element = element;
    this.build(element);
    this.setZoom(kept("agon-zoom", "fit") === "fit" ? "fit" : 1);
  }

  build(element) {
    const choice = (mode, label, key) => h("button", { type: "button", dataset: { mode }, title: label + " (" + key + ")", onclick: () => this.setMode(mode) }, label);
    this.modes = [choice("before", "Before", "b"), choice("after", "After", "b"), choice("difference", "Difference", "d")];
    this.marked = h("button", { type: "button", class: "stage-mark", "aria-pressed": "true", title: "Draw what the agent did (o)", onclick: () => this.toggleMarks() }, "Action");
    this.zooms = h("button", { type: "button", title: "As large as it is (z)", onclick: () => this.toggleZoom() }, "100 %");
    this.words = h("span", { class: "stage-words clip" });
    this.open = h("a", { class: "button quiet", target: "_blank", rel: "noopener", title: "The picture as it is stored" }, "Open");
    this.bar = h("div", { class: "stage-bar" },
      h("div", { class: "group", role: "group", "aria-label": "Screen before or after the step" }, this.modes), this.marked, this.words, this.zooms, this.open);
    this.caption = h("p", {});
    this.screen.element.addEventListener("dblclick", () => this.toggleZoom());
    element.append(this.bar, this.screen.element, h("div", { class: "stage-caption" }, this.caption));
  }

  setMode(mode) {
    this.mode = mode;
    this.draw();
  }

  flip() {
    this.setMode(this.drawn === "before" ? "after" : "before");
  }

  toggleDifference() {
    this.setMode(this.drawn === "difference" ? this.last || "before" : "difference");
  }

  toggleMarks() {
    const on = this.marked.getAttribute("aria-pressed") !== "true";
    this.marked.setAttribute("aria-pressed", String(on));
    this.screen.setMarked(on);
  }

  toggleZoom() {
    this.setZoom(this.screen.zoom === "fit" ? 1 : "fit");
    keep("agon-zoom", String(this.screen.zoom));
  }

  setZoom(zoom) {
    this.screen.setZoom(zoom);
    this.zooms.setAttribute("aria-pressed", String(zoom !== "fit"));
  }

  // Shows a step; resolves once it is on the screen. `mode` for this time only.
  async show(step, mode) {
    this.step = step;
    this.wanted = null;
    this.subtitle(step);
    return this.draw(mode);
  }

  // What the agent did and thought, for those who look at the screen alone.
  subtitle(step) {
    const name = step.kind === "setup" ? "Start" : step.kind === "end" ? "End" : "Step " + step.n;
    const thought = step.events.find((one) => one.kind === "thought");
    const refused = step.events.find((one) => one.kind === "observation" && ["error", "refused"].includes(one.observation && one.observation.kind));
    this.caption.replaceChildren(h("strong", {}, name), " ", h("span", {}, plain(step.brief)),
      refused ? h("span", { class: "is-failed" }, " ✕ " + clip(plain(refused.observation.text), 200)) : "",
      thought ? h("span", { class: "soft" }, " · " + clip(plain(thought.thought), 600)) : "");
  }

  async draw(asked) {
    const step = this.step;
    if (!step) return;
    const mode = asked || this.mode;
    this.drawn = mode;
    this.element.classList.remove("framed");
    if (mode !== "difference") this.last = mode;
    for (const button of this.modes) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
    const { before, after } = pair(step);
    const shot = mode === "before" ? before : after;
    const name = step.kind === "setup" ? "at the start" : step.kind === "end" ? "at the end" : (mode === "before" ? "before step " : "after step ") + step.n;
    const alt = "Screen " + name + (shot && shot.window ? ", window " + shot.window : "") + (step.brief ? ", " + step.brief : "");
    this.say(shot);
    if (shot) this.open.href = this.pictures.address(shot.picture.blob);
    this.open.hidden = !shot;
    const shown = await this.screen.show({ shot, other: before, action: actionOf(step), mode, alt });
    if (shown && mode === "difference") {
      const found = this.screen.found;
      this.words.textContent = !before || !after ? "There is nothing to compare." : found === undefined || found === null ? "What changed" : found.changed === 0 ? "Nothing changed." : count(found.changed) + " pixels changed (" + percent(found.share) + ")";
    }
  }

  say(shot) {
    this.words.textContent = shot ? (shot.window ? plain(shot.window) : "") : "";
    this.words.title = shot ? shot.width + " × " + shot.height + ", " + stamp(shot.t) : "";
  }

  // A frame of a stream, by its blob. Frames may come faster than they can be loaded: those that came meanwhile
  // are passed over, but for the last one.
  async frame(blob, size, t) {
    this.step = null;
    this.wanted = { blob, size, t };
    this.element.classList.add("framed");
    if (this.framing) return;
    this.framing = true;
    try {
      while (this.wanted) {
        const next = this.wanted;
        this.wanted = null;
        await this.frameNow(next);
      }
    } finally {
      this.framing = false;
    }
  }

  frameNow({ blob, size, t }) {
    const shot = { picture: { blob }, width: size[0], height: size[1], cursor: null, t };
    this.open.href = this.pictures.address(blob);
    this.open.hidden = false;
    this.words.textContent = "Frame at " + stamp(t);
    return this.screen.show({ shot, mode: "after", alt: "Frame at " + stamp(t) });
  }

  // Once more, if its picture could not be had: the viewer may have been gone.
  again() {
    if (this.screen.lost) this.draw(this.drawn);
  }

  // Pictures that are wanted next.
  ahead(steps) {
    for (const step of steps) {
      for (const shot of [step.before, step.after]) if (shot) this.pictures.load(shot.picture.blob).catch(() => {});
    }
  }
}
