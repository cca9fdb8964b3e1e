// A prediction: what was asked, what was expected and predicted, and both drawn where they would be done, on
// the picture that the model saw. Numbers come from models: whatever they are, the drawing has its size.
import { clip, h, plain, svg } from "./dom.js";
import { count, percent, value } from "./format.js";
import { fact, json, opening, tag, text } from "./blocks.js";

// No coordinate that means anything is larger.
const FAR = 1e9;
const MOST_POINTS = 200;
const LISTED = 40;
const DEEPEST = 32;
const LARGEST = 16e6;
const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/;

function tame(number) {
  const n = Number(number);
  return Number.isFinite(n) ? Math.max(-FAR, Math.min(FAR, n)) : 0;
}

function pixel(number) {
  const n = tame(number);
  return Number.isInteger(n) ? String(n) : n.toFixed(1);
}

function mouse(action) {
  return action && action.mouse_x !== undefined;
}

// An action in words: `click left (138, 89)`, `press a`.
function told(action) {
  if (!action) return "nothing";
  const name = plain(action.name);
  if (!mouse(action)) return name + " " + clip(plain(action.key_name), 40);
  const place = "(" + pixel(action.mouse_x) + ", " + pixel(action.mouse_y) + ")";
  if (name === "move") return "move " + place;
  return name + " " + clip(plain(action.mouse_button_name), 20) + (action.mouse_pressed ? " " : " up ") + place;
}

function corners(box) {
  const [left, top] = [tame(box.left), tame(box.top)];
  return [left, top, left + Math.max(1, tame(box.width)), top + Math.max(1, tame(box.height))];
}

function points(actions) {
  const numbered = (actions || []).map((action, at) => ({ action, at }));
  return numbered.filter((one) => mouse(one.action)).slice(0, MOST_POINTS).map(({ action, at }) => ({ x: tame(action.mouse_x), y: tame(action.mouse_y), words: at + 1 + ". " + told(action) }));
}

// The part of the plane that is drawn: all boxes, and points that are not too far out.
function frame(boxes, drawn) {
  const least = (at) => Math.min(...boxes.map((box) => box[at]));
  const most = (at) => Math.max(...boxes.map((box) => box[at]));
  let [left, top, right, bottom] = [least(0), least(1), most(2), most(3)];
  const [wide, high] = [(right - left) / 4, (bottom - top) / 4];
  const near = drawn.filter((p) => p.x >= left - wide && p.x <= right + wide && p.y >= top - high && p.y <= bottom + high);
  for (const p of near) [left, top, right, bottom] = [Math.min(left, p.x), Math.min(top, p.y), Math.max(right, p.x), Math.max(bottom, p.y)];
  const margin = Math.max(1, Math.max(right - left, bottom - top) * 0.02);
  return { left: left - margin, top: top - margin, width: right - left + 2 * margin, height: bottom - top + 2 * margin };
}

function rect(box, kind) {
  return svg("rect", { x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1], class: kind, "vector-effect": "non-scaling-stroke" });
}

// Both points, the box or the windows, and lines from what was right to what was said instead.
function drawing(prediction, label) {
  const now = corners(prediction.window);
  const was = prediction.reference_window ? corners(prediction.reference_window) : null;
  const target = prediction.target ? corners(prediction.target) : null;
  const lists = { was: points(prediction.reference), expected: points(prediction.expected), predicted: points(prediction.predicted) };
  const around = frame([now, was, target].filter(Boolean), Object.values(lists).flat());
  const unit = around.width / 400;
  const inside = (p) => ({ x: Math.max(around.left, Math.min(p.x, around.left + around.width)), y: Math.max(around.top, Math.min(p.y, around.top + around.height)) });
  const marks = ([kind, list]) => list.map((p) => {
    const at = inside(p);
    return svg("circle", { cx: at.x, cy: at.y, r: (kind === "expected" ? 8 : 4) * unit, class: "mark-" + kind, "vector-effect": "non-scaling-stroke", "data-x": p.x, "data-y": p.y }, svg("title", {}, kind + ": " + p.words));
  });
  const missed = (prediction.scores || []).slice(0, MOST_POINTS).map((score, at) => {
    const said = (prediction.predicted || [])[score.with];
    const right = mouse((prediction.expected || [])[at]) ? points([prediction.expected[at]])[0] : target ? { x: (target[0] + target[2]) / 2, y: (target[1] + target[3]) / 2 } : null;
    if (score.score >= 1 || !right || !mouse(said)) return null;
    const [from, to] = [inside(right), inside(points([said])[0])];
    return svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: "mark-missed", "vector-effect": "non-scaling-stroke" });
  });
  const screen = svg("image", { x: now[0], y: now[1], width: now[2] - now[0], height: now[3] - now[1], preserveAspectRatio: "none" });
  const sheet = svg("svg", { class: "prediction-sheet", viewBox: [around.left, around.top, around.width, around.height].join(" "), role: "img", "aria-label": label },
    screen, rect(now, "mark-window"), was ? rect(was, "mark-window was") : null, target ? rect(target, "mark-target") : null, missed, Object.entries(lists).flatMap(marks));
  return { sheet, screen };
}

// The last picture in a request, whichever service's shape that has.
function pictureIn(body, depth = 0) {
  if (depth > DEEPEST || body === null || body === undefined) return null;
  if (typeof body === "string") return body.length <= LARGEST && PICTURE.test(body) ? body : null;
  if (typeof body !== "object") return null;
  const kind = body.media_type ?? body.mime_type ?? body.mimeType;
  if (typeof kind === "string" && typeof body.data === "string") return pictureIn("data:" + kind + ";base64," + body.data, depth + 1);
  const parts = Array.isArray(body) ? body.slice().reverse() : Object.values(body);
  for (const part of parts) {
    const found = pictureIn(part, depth + 1);
    if (found) return found;
  }
  return null;
}

// Expected beside predicted, with what it was worth.
function compared(prediction) {
  const { expected = [], predicted = [], scores = [] } = prediction;
  const used = new Set(scores.map((score) => score.with));
  const rows = Math.max(expected.length, scores.length);
  const further = predicted.filter((_, at) => !used.has(at));
  const right = (at) => (expected[at] ? told(expected[at]) : "in the box");
  return h("table", { class: "sheet prediction-actions" },
    h("thead", {}, h("tr", {}, ["Expected", "Predicted", "Score", "Away"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {},
      Array.from({ length: Math.min(LISTED, rows) }, (_, at) => {
        const score = scores[at] || {};
        return h("tr", {}, h("td", {}, right(at)), h("td", {}, told(predicted[score.with])), h("td", { class: "number" }, score.score === undefined ? "" : percent(score.score)), h("td", { class: "number", title: "as a share of the diagonal" }, score.distance === undefined || score.distance === null ? "" : percent(score.distance)));
      }),
      further.slice(0, LISTED).map((one) => h("tr", {}, h("td", { class: "soft" }, "nothing"), h("td", {}, told(one)), h("td", {}), h("td", {}))),
      rows > LISTED || further.length > LISTED ? h("tr", {}, h("td", { colspan: "4", class: "soft" }, count(rows) + " expected and " + count(predicted.length) + " predicted actions in all")) : null));
}

// `asked()`: resolves to the request that the model was given, or to nothing.
export function predictionView(prediction, asked) {
  const label = "Expected: " + (prediction.expected || []).slice(0, 4).map(told).join(", ") + (prediction.target ? "in the box" : "") + "; predicted: " + ((prediction.predicted || []).slice(0, 4).map(told).join(", ") || "nothing");
  const { sheet, screen } = drawing(prediction, label);
  const note = h("p", { class: "note", hidden: true });
  if (prediction.image && asked) {
    asked().then((request) => pictureIn(request)).catch(() => null).then((address) => {
      if (address) screen.setAttribute("href", address);
      note.hidden = Boolean(address);
      note.textContent = "The picture that the model saw is not in the record.";
    });
  }
  const key = (kind, words) => h("span", { class: "fact" }, h("span", { class: "key-" + kind, "aria-hidden": "true" }), words);
  return h("div", { class: "prediction" },
    h("div", { class: "event-line" }, h("span", { class: "event-name" }, "Prediction"), fact("measured as", plain(prediction.metric)), prediction.group ? fact("of", clip(plain(prediction.group), 80)) : null, prediction.parsed ? null : tag("not read", "bad")),
    prediction.question ? text(prediction.question, { kind: "speech", most: 6 }) : null,
    sheet,
    h("div", { class: "prediction-key" }, prediction.target ? key("target", "expected box") : key("expected", "expected"), key("predicted", "predicted"), (prediction.reference || []).length ? key("was", "shown to the model") : null),
    note,
    prediction.why ? h("p", { class: "problem" }, "The answer can't be read: " + clip(plain(prediction.why), 400)) : null,
    compared(prediction),
    prediction.target ? h("p", { class: "note" }, "The box is " + value(tame(prediction.target.width)) + " × " + value(tame(prediction.target.height)) + " pixels at (" + pixel(prediction.target.left) + ", " + pixel(prediction.target.top) + ").") : null,
    prediction.answer ? h("section", {}, h("h3", {}, "Answer"), text(prediction.answer, { most: 8 })) : null,
    opening("As JSON", () => json(prediction)));
}
