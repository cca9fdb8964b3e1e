// What an agent did, drawn over a screen: rings for clicks, paths for drags, arrows for scrolling, captions
// for keys and text. Everything drawn is text nodes and shapes.
import { clip, h, plain, svg } from "./dom.js";

const LONGEST = 160;

// A shape with a light edge around it, so that it is seen on any ground.
function edged(name, attributes) {
  return [svg(name, {...attributes, class: "mark-edge"}), svg(name, {...attributes, class: "mark-line"})];
}

function number(value, most) {
  const n = Number(value);
  return Number.isFinite(n) ? Math.max(-most, Math.min(most, n)) : 0;
}

function point(value) {
  return {x: number(value && value.x, 1e5), y: number(value && value.y, 1e5)};
}

// Words near a point, on the side of it that has more room, and never wider than that.
function caption(words, at, size, kind) {
  const node = h("span", {class: `mark-caption ${kind || ""}`}, clip(plain(words), LONGEST));
  const left = at.x / size.width;
  const top = at.y / size.height;
  const share = Math.max(0, Math.min(1, left)) * 100;
  if (share > 50) node.style.right = `calc(${100 - share}% + 18px)`;
  else node.style.left = `calc(${share}% + 18px)`;
  node.style.maxWidth = `calc(${Math.max(share, 100 - share)}% - 22px)`;
  if (top > 0.6) node.style.bottom = `calc(${(1 - Math.min(1, top)) * 100}% + 14px)`;
  else node.style.top = `calc(${Math.max(0, top) * 100}% + 14px)`;
  return node;
}

// Words that belong to no place: at the bottom.
function banner(words, kind) {
  return h("span", {class: `mark-banner ${kind || ""}`}, clip(plain(words), LONGEST));
}

function keycaps(keys, at, size) {
  const node = caption("", at, size, "keys");
  const caps = String(keys).slice(0, 200).split(/\s+/).filter(Boolean).slice(0, 12);
  for (const cap of caps) node.append(h("kbd", {}, clip(plain(cap), 40)));
  return node;
}

function ring(at, count, px) {
  const rings = [];
  for (let i = 0; i < count; i++) rings.push(...edged("circle", {cx: at.x, cy: at.y, r: (13 + 5 * i) * px}));
  rings.push(svg("circle", {cx: at.x, cy: at.y, r: 3 * px, class: "mark-dot"}));
  rings.push(svg("circle", {cx: at.x, cy: at.y, r: 13 * px, class: "mark-pulse"}));
  return rings;
}

function arrow(from, to, px) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const wing = (turn) => `${to.x - 12 * px * Math.cos(angle + turn)},${to.y - 12 * px * Math.sin(angle + turn)}`;
  return edged("polyline", {points: `${wing(0.5)} ${to.x},${to.y} ${wing(-0.5)}`});
}

function way(from, to, px) {
  if (!from || Math.hypot(from.x - to.x, from.y - to.y) < 30 * px) return [];
  return [svg("line", {x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: "mark-way"})];
}

function pointer(at, px) {
  const tip = `M${at.x} ${at.y}l0 ${15 * px}l${3.6 * px} ${-3.4 * px}l${2.6 * px} ${5.6 * px}l${2.4 * px} ${-1.1 * px}l${-2.6 * px} ${-5.5 * px}l${5 * px} 0z`;
  return svg("path", {d: tip, class: "mark-pointer"});
}

// A drag or a scroll as it goes on: points of the path, the first and the last marked.
function path(points, px) {
  const shown = points.slice(0, 1000).map(point);
  const line = shown.map((p) => `${p.x},${p.y}`).join(" ");
  const last = shown[shown.length - 1];
  const before = shown.slice().reverse().find((p) => Math.hypot(p.x - last.x, p.y - last.y) > 4 * px) || shown[0];
  return [
    ...edged("polyline", {points: line}),
    svg("circle", {cx: shown[0].x, cy: shown[0].y, r: 5 * px, class: "mark-dot"}),
    ...arrow(before, last, px),
  ];
}

function scrolling(at, dx, dy, px) {
  const shapes = [svg("circle", {cx: at.x, cy: at.y, r: 4 * px, class: "mark-dot"})];
  const length = (n) => Math.sign(n) * (30 + 8 * Math.min(6, Math.abs(n))) * px;
  for (const to of [dx ? {x: at.x + length(dx), y: at.y} : null, dy ? {x: at.x, y: at.y + length(dy)} : null]) {
    if (!to) continue;
    shapes.push(...edged("line", {x1: at.x, y1: at.y, x2: to.x, y2: to.y}), ...arrow(at, to, px));
  }
  return shapes;
}

function scrollWords(dx, dy) {
  const words = [];
  if (dy) words.push(`${dy > 0 ? "down" : "up"} ${Math.abs(dy)}`);
  if (dx) words.push(`${dx > 0 ? "right" : "left"} ${Math.abs(dx)}`);
  return `scroll ${words.join(", ") || "0"}`;
}

// Shapes and captions of one action: {shapes, words}.
function drawn(action, cursor, size, px) {
  const at = {x: number(action.x, 1e5), y: number(action.y, 1e5)};
  const near = cursor || {x: size.width / 2, y: size.height * 0.8};
  const button = action.button && action.button !== "left" ? `${plain(String(action.button))} ` : "";
  switch (action.action) {
    case "click": {
      const count = Math.max(1, Math.min(3, number(action.count, 3) || 1));
      const times = ["", "", "double ", "triple "][count];
      return {shapes: [...way(cursor, at, px), ...ring(at, count, px)], words: [caption(`${times}${button}click`, at, size)]};
    }
    case "move":
      return {shapes: [...way(cursor, at, px), ...edged("circle", {cx: at.x, cy: at.y, r: 6 * px})], words: [caption("move", at, size)]};
    case "drag": {
      const points = Array.isArray(action.path) && action.path.length ? action.path : [at];
      const last = point(points[points.length - 1]);
      return {shapes: path(points, px), words: [caption(`${button}drag`, last, size)]};
    }
    case "scroll": {
      const dx = number(action.dx, 1e4);
      const dy = number(action.dy, 1e4);
      return {shapes: scrolling(at, dx, dy, px), words: [caption(scrollWords(dx, dy), at, size)]};
    }
    case "type":
      return {shapes: [], words: [caption(String(action.text).replaceAll("\n", "⏎").replaceAll("\t", "⇥"), near, size, "typed")]};
    case "key":
      return {shapes: [], words: [keycaps(action.keys, near, size)]};
    case "key_down":
      return {shapes: [], words: [keycaps(`↓${action.key}`, near, size)]};
    case "key_up":
      return {shapes: [], words: [keycaps(`↑${action.key}`, near, size)]};
    case "wait":
      return {shapes: [], words: [banner(`wait ${number(action.seconds, 1e6)} s`)]};
    case "finish":
      return {shapes: [], words: [banner(action.result ? `finish: ${action.result}` : "finish", "end")]};
    case "reject":
      return {shapes: [], words: [banner(action.reason ? `reject: ${action.reason}` : "reject", "end")]};
    case "run":
      return {shapes: [], words: [banner(`$ ${action.command}`, "typed")]};
    case "message":
      return {shapes: [], words: [banner(`“${action.text}”`)]};
    default:
      return {shapes: [], words: []};
  }
}

// Nodes to lie over a picture of `width` x `height` that is shown `scale` times as large.
export function marks(view, width, height, scale) {
  const px = 1 / scale;
  const size = {width, height};
  const cursor = view.shot && view.shot.cursor ? point(view.shot.cursor) : null;
  const sheet = svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "mark-sheet", preserveAspectRatio: "none"});
  const words = [];
  if (view.action && view.mode === "before") {
    const {shapes, words: said} = drawn(view.action, cursor, size, px);
    sheet.append(...shapes);
    words.push(...said);
  }
  if (cursor) sheet.append(pointer(cursor, px));
  return [sheet, ...words];
}
