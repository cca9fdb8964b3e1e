// What happened around a frame of a trial that was played in real time: keys, looks, and what was measured.
import { clip, h, plain, sign } from "./dom.js";
import { value, words } from "./format.js";
import { stamp, tag } from "./blocks.js";
import { playFacts } from "./step.js";
import { between } from "./times.js";

const MOST = 60;

// Presses with how long they were held.
function held(inputs) {
  return inputs.filter((one) => one[1].endsWith("_press") || one[1] === "scroll").map(([t, kind, what]) => {
    const up = inputs.find((one) => one[0] >= t && one[1] === kind.replace("_press", "_release") && one[2] === what);
    return { t, kind, what, seconds: up ? up[0] - t : null };
  });
}

export function momentView(track, at) {
  const [t] = track.frames[at];
  const next = at + 1 < track.frames.length ? track.frames[at + 1][0] : track.duration + 1;
  const inputs = held(between(track.inputs, t, next));
  const looks = between(track.looks, t, next);
  const acted = between(track.actions, t, next);
  return h("div", { class: "moment" },
    h("div", { class: "panel-step" }, h("h2", {}, "Frame " + (at + 1) + " of " + track.frames.length), h("span", { class: "soft" }, "at " + stamp(t))),
    acted.length ? h("section", {}, h("h3", {}, "Actions"), h("ul", { class: "plain-list" }, acted.slice(0, MOST).map(([when, step, late]) => h("li", {}, stamp(when), " step " + step, late === null || late === undefined ? null : tag(Math.round(late * 1000) + " ms after the frame"))))) : null,
    h("section", {}, h("h3", {}, "Keys and buttons until the next frame"), inputs.length
      ? h("table", { class: "sheet inputs" }, h("tbody", {}, inputs.slice(0, MOST).map((one) => h("tr", {}, h("td", { class: "number" }, one.t.toFixed(3)), h("td", {}, h("kbd", {}, clip(plain(one.what), 30))), h("td", { class: "soft" }, one.kind === "key_press" ? "" : words(plain(one.kind))), h("td", { class: "number" }, one.seconds === null ? "" : Math.round(one.seconds * 1000) + " ms")))))
      : h("p", { class: "soft" }, "None.")),
    looks.length ? h("section", {}, h("h3", {}, "Looks at the screen"), h("ul", { class: "plain-list" }, looks.slice(0, MOST).map(([when, test, holds, found]) => h("li", {}, sign(holds ? "passed" : "missing"), clip(plain(test), 200), " ", h("span", { class: "soft" }, (holds ? "holds" : "does not hold") + " at " + stamp(when)), found === null || found === undefined ? null : tag(value(found)))))) : null,
    track.play ? h("section", {}, h("h3", {}, "Measured over the whole play"), playFacts(track.play)) : null);
}
