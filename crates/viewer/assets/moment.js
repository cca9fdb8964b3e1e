// What happened around a frame of a trial that was played in real time: keys, how fast frames were answered,
// looks, and what was measured.
import { clip, h, plain, sign } from "./dom.js";
import { count, millis, value, words } from "./format.js";
import { stamp, tag } from "./blocks.js";
import { middle } from "./axis.js";
import { playFacts } from "./step.js";
import { between } from "./times.js";

const MOST = 60;

// Presses between two times, with how long they were held: most are let go while another frame is shown.
function held(inputs, from, to) {
  const pressed = between(inputs, from, to).filter((one) => one[1].endsWith("_press") || one[1] === "scroll");
  const later = between(inputs, from, Infinity);
  return pressed.slice(0, MOST).map(([t, kind, what]) => {
    const released = kind.replace("_press", "_release");
    const up = released === kind ? null : later.find((one) => one[0] >= t && one[1] === released && one[2] === what);
    return { t, kind, what, seconds: up ? up[0] - t : null };
  });
}

// More frames are answered than are recorded: each of these is one that the agent was given.
function latencyFacts(answers) {
  const longest = answers.reduce((most, one) => Math.max(most, one[1]), 0);
  const rows = [["answers", count(answers.length)], ["median", millis(middle(answers))], ["longest", millis(longest)]];
  return h("dl", { class: "facts tight" }, rows.map(([name, shown]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown))));
}

export function momentView(track, at) {
  const [t] = track.frames[at];
  const next = at + 1 < track.frames.length ? track.frames[at + 1][0] : track.duration + 1;
  const inputs = held(track.inputs, t, next);
  const looks = between(track.looks, t, next);
  const acted = between(track.actions, t, next);
  const answers = between(track.answers, t, next);
  return h("div", { class: "moment" },
    h("div", { class: "panel-step" }, h("h2", {}, "Frame " + (at + 1) + " of " + track.frames.length), h("span", { class: "soft" }, "at " + stamp(t))),
    acted.length ? h("section", {}, h("h3", {}, "Actions"), h("ul", { class: "plain-list" }, acted.slice(0, MOST).map(([when, step, late]) => h("li", {}, stamp(when), " step " + step, typeof late === "number" ? tag(millis(late) + " after the frame that it answers") : null)))) : null,
    answers.length ? h("section", {}, h("h3", {}, "Latency until the next frame"), latencyFacts(answers)) : null,
    h("section", {}, h("h3", {}, "Keys and buttons until the next frame"), inputs.length
      ? h("table", { class: "sheet inputs" }, h("tbody", {}, inputs.map((one) => h("tr", {}, h("td", { class: "number" }, one.t.toFixed(3)), h("td", {}, h("kbd", {}, clip(plain(one.what), 30))), h("td", { class: "soft" }, one.kind === "key_press" ? "" : words(plain(one.kind))), h("td", { class: "number" }, one.seconds === null ? "" : Math.round(one.seconds * 1000) + " ms")))))
      : h("p", { class: "soft" }, "None.")),
    looks.length ? h("section", {}, h("h3", {}, "Looks at the screen"), h("ul", { class: "plain-list" }, looks.slice(0, MOST).map(([when, test, holds, found]) => h("li", {}, sign(holds ? "passed" : "missing"), clip(plain(test), 200), " ", h("span", { class: "soft" }, (holds ? "holds" : "does not hold") + " at " + stamp(when)), found === null || found === undefined ? null : tag(value(found)))))) : null,
    track.play ? h("section", {}, h("h3", {}, "Measured over the whole play"), playFacts(track.play)) : null);
}
