// A step: its events, each kind in its own way. A kind that is not known is shown as it is recorded.
//
// `ctx`: {go(step), thumb(digest), picture(digest), file(digest), event(seq) and said(seq, which) that fetch}.
import { clip, h, plain, sign } from "./dom.js";
import { bytes, count, counted, duration, money, percent, value, words } from "./format.js";
import { diff, fact, json, leftOut, opening, replaced, stamp, tag, text } from "./blocks.js";
import { conversation } from "./talk.js";
import { checkResult } from "./checks.js";

const INPUTS = 60;

// A line, and below it the texts that are among what it says.
function line(label, ...rest) {
  const all = rest.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
  const below = all.filter((one) => one instanceof Element && one.matches(".text, .fold"));
  return [h("div", { class: "event-line" }, h("span", { class: "event-name" }, label), all.filter((one) => !below.includes(one))), below];
}

function place(action) {
  return Number(action.x) + ", " + Number(action.y);
}

function path(name) {
  return h("code", { class: "path" }, plain(name));
}

const ACTIONS = {
  run: (a) => [text(a.command, { kind: "command", most: 24 }), a.input ? tag("input to the running command") : null, a.timeout ? tag("time-out " + duration(a.timeout)) : null, a.wait ? tag("waits " + duration(a.wait)) : null],
  cell: (a) => [text(a.code, { kind: "code", most: 40 })],
  browse: (a) => [text(a.code, { kind: "code" })],
  read: (a) => [path(a.path), a.lines ? tag("lines " + Number(a.lines[0]) + " to " + (a.lines[1] === -1 ? "the end" : Number(a.lines[1]))) : null],
  write: (a) => [path(a.path), a.create ? tag("new file") : null, text(a.content, { kind: "code" })],
  edit: (a) => [path(a.path), replaced(a.old, a.new)],
  insert: (a) => [path(a.path), tag("after line " + Number(a.line)), text(a.text, { kind: "code" })],
  undo: (a) => [path(a.path)],
  message: (a) => [text(a.text, { kind: "speech" })],
  think: (a) => [text(a.thought, { kind: "thought" })],
  finish: (a) => [a.result === undefined || a.result === null ? null : text(a.result, { kind: "speech" })],
  reject: (a) => [a.reason ? text(a.reason, { kind: "speech" }) : null],
  key: (a) => [plain(a.keys).split(" ").slice(0, 40).map((key) => h("kbd", {}, clip(key, 60)))],
  key_down: (a) => [h("kbd", {}, plain(a.key))],
  key_up: (a) => [h("kbd", {}, plain(a.key))],
  type: (a) => [text(a.text, { kind: "typed" })],
  move: (a) => [fact("to", place(a))],
  click: (a) => [fact("at", place(a)), a.button && a.button !== "left" ? tag(plain(a.button) + " button") : null, a.count > 1 ? tag(a.count === 2 ? "double" : "triple") : null],
  drag: (a) => [fact("from", place(a.path[0])), fact("to", place(a.path[a.path.length - 1])), a.path.length > 2 ? tag(counted(a.path.length, "point")) : null, a.seconds ? tag(duration(a.seconds)) : null, a.button && a.button !== "left" ? tag(plain(a.button) + " button") : null],
  scroll: (a) => [fact("at", place(a)), fact("by", Number(a.dx || 0) + ", " + Number(a.dy || 0))],
  wait: (a) => [fact("for", duration(Number(a.seconds)))],
  screenshot: () => [],
};

function action(event) {
  const done = event.action || {};
  const known = Object.hasOwn(ACTIONS, done.action) ? ACTIONS[done.action] : null;
  return [line(words(plain(done.action)), known ? known(done) : json(done))];
}

function screenFacts(screen) {
  if (!screen) return null;
  const window = screen.window;
  return h("div", { class: "event-facts" },
    window ? fact("window", clip(plain(window.title), 120)) : null,
    screen.cursor ? fact("pointer", Number(screen.cursor.x) + ", " + Number(screen.cursor.y)) : null,
    fact("screen", Number(screen.width) + " × " + Number(screen.height)));
}

function pictureOf(picture, ctx, alt) {
  return h("a", { class: "event-picture", href: ctx.picture(picture.blob), target: "_blank", rel: "noopener" }, h("img", { src: ctx.thumb(picture.blob), alt, loading: "lazy" }));
}

function status(code) {
  if (code === undefined || code === null) return null;
  return code === 0 ? tag("exit 0", "good") : tag("exit " + Number(code), "bad");
}

function observation(event, ctx) {
  const seen = event.observation || {};
  const bad = seen.kind === "error" || seen.kind === "refused";
  const changed = seen.changed;
  const name = { ready: "Ready", output: "Output", content: "Content", done: "Done", reply: "Reply", error: "Error", refused: "Refused" }[seen.kind] || plain(seen.kind);
  return [
    line(name, status(seen.exit_status), seen.running ? tag("still running", "warn") : null, seen.cwd ? h("span", { class: "soft mono cwd" }, plain(seen.cwd)) : null, seen.screen && !seen.text && !bad ? h("span", { class: "soft clip" }, seen.screen.window ? plain(seen.screen.window.title) : "") : null),
    seen.text ? text(seen.text, { kind: bad ? "bad" : seen.kind === "reply" ? "speech" : "output" }) : null,
    leftOut(seen.omitted),
    changed ? h("div", {}, path(changed.path), changed.existed ? null : tag("new file"), diff(changed.diff)) : null,
    (seen.pictures || []).map((picture) => pictureOf(picture, ctx, "Picture that was drawn")),
    seen.screen && (seen.text || bad) ? screenFacts(seen.screen) : null,
  ];
}

export function usageFacts(usage) {
  if (!usage) return [];
  const cached = usage.cached_tokens ? " (" + count(usage.cached_tokens) + " cached)" : "";
  const reasoning = usage.reasoning_tokens ? " (" + count(usage.reasoning_tokens) + " reasoning)" : "";
  return [
    usage.input_tokens ? fact("in", count(usage.input_tokens) + cached) : null,
    usage.output_tokens ? fact("out", count(usage.output_tokens) + reasoning) : null,
    usage.money !== undefined && usage.money !== null ? fact("cost", (usage.unpriced_calls ? "≥ " : "") + money(usage.money / 1e6)) : null,
  ];
}

function model(event, ctx) {
  const call = event.model || {};
  const body = (which, title) => (call[which] === undefined ? null : opening(title, async () => conversation(await ctx.said(event.seq, which))));
  return [
    line("Model", h("strong", {}, plain(call.model)), call.purpose && call.purpose !== "agent" ? tag(plain(call.purpose)) : null, fact("took", duration(call.seconds)), usageFacts(call.usage), call.tries > 1 ? tag(Number(call.tries) + " tries", "warn") : null, call.taped ? tag("from a tape") : null),
    call.fault ? h("p", { class: "problem" }, words(plain(call.fault)), call.why ? ": " + plain(call.why) : "") : null,
    h("div", { class: "event-openings" }, body("request", "Request"), body("response", "Response")),
  ];
}

function inputs(event) {
  const list = Array.isArray(event.input) ? event.input : [];
  const shown = list.filter((one, at) => one.kind !== "motion" || at === 0 || at === list.length - 1 || list[at + 1].kind !== "motion");
  const what = (one) => plain(one.key ?? (one.button ? "button " + one.button : one.dx || one.dy ? (one.dx || 0) + "," + (one.dy || 0) : ""));
  const where = (one) => (one.x === undefined ? "" : Number(one.x) + ", " + Number(one.y));
  return [opening(h("span", {}, h("span", { class: "event-name" }, "Input"), " ", h("span", { class: "soft" }, counted(list.length, "event") + " that the X server saw")), () =>
    h("table", { class: "sheet inputs" }, h("tbody", {}, shown.slice(0, INPUTS).map((one) => h("tr", {}, h("td", { class: "number" }, Number(one.t).toFixed(3)), h("td", {}, words(plain(one.kind))), h("td", {}, what(one)), h("td", { class: "number" }, where(one)))),
      shown.length > INPUTS ? h("tr", {}, h("td", { colspan: "4", class: "soft" }, count(shown.length - INPUTS) + " more")) : null)))];
}

function look(event, ctx) {
  const seen = event.look || {};
  return [
    line("Look", sign(seen.holds ? "passed" : "missing"), plain(seen.test), seen.holds ? tag("holds", "good") : tag("does not hold"), seen.value === undefined || seen.value === null ? null : fact("value", value(seen.value)), seen.confidence === undefined || seen.confidence === null ? null : fact("confidence", percent(seen.confidence))),
    seen.found ? text(seen.found) : null,
    seen.doubt ? h("p", { class: "problem" }, "Not believed: " + plain(seen.doubt)) : null,
    seen.picture ? pictureOf(seen.picture, ctx, "Screen that was looked at") : null,
  ];
}

const PLAYED = { played: duration, world: duration, hidden: duration, steps: count, actions: count, actions_per_second: value, frames_seen: count, frames_missed: count, scheduled: count, scheduled_late: count, scheduled_dropped: count };

// What was measured of an agent that played in real time.
export function playFacts(play) {
  const rows = Object.entries(PLAYED).filter(([name]) => play[name] !== undefined && play[name] !== null).map(([name, show]) => [words(name), show(Number(play[name]))]);
  for (const name of ["p50", "p90", "p99", "max"]) {
    if (play.latency) rows.push(["latency " + name, (Number(play.latency[name]) * 1000).toFixed(1) + " ms"]);
  }
  return h("dl", { class: "facts tight" }, rows.map(([name, shown]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown))));
}

function ran(event) {
  const done = event.ran || {};
  return [
    line("Ran", tag(plain(done.exit), done.status === 0 ? "good" : "bad"), done.tainted ? tag("where the agent had been", "warn") : null),
    text(done.command, { kind: "command" }),
    done.stdout ? text(done.stdout, { kind: "output" }) : null,
    done.stderr ? text(done.stderr, { kind: "output bad" }) : null,
    leftOut(done.omitted),
  ];
}

function around(view) {
  if (!view) return null;
  return opening(counted((view.windows || []).length, "window") + ", " + counted((view.apps || []).length, "program"), () =>
    h("ul", { class: "plain-list" }, (view.windows || []).map((one) => h("li", {}, plain(one.title), " ", h("span", { class: "soft" }, plain(one.class)))),
      (view.apps || []).map((one) => h("li", {}, h("code", {}, plain(one.command)), " ", one.exit === undefined || one.exit === null ? tag("runs", "good") : tag("exit " + Number(one.exit))))));
}

const PHASES = { setup: "the task is set up", running: "the agent's turn", frozen: "the turn is over: nothing changes any more", graded: "graded" };

const KINDS = {
  phase: (e) => [line("Phase", h("span", { class: "soft", title: plain(e.phase) }, Object.hasOwn(PHASES, e.phase) ? PHASES[e.phase] : plain(e.phase)))],
  instruction: (e) => [line("Instruction"), text(e.instruction, { kind: "speech", most: 30 })],
  action,
  observation,
  refused: (e) => [line("Refused", h("span", { class: "soft" }, "no allowed action")), text(e.refused, { kind: "bad" })],
  thought: (e) => [line("Thought"), text(e.thought, { kind: "thought", most: 30 })],
  called: (e) => [line("Called", h("code", {}, plain(e.called && e.called.function)), e.called && e.called.of > 1 ? tag("one of " + Number(e.called.of) + " calls") : null)],
  condensed: (e) => [line("Condensed", h("span", { class: "soft" }, "steps " + Number(e.condensed.from) + " to " + Number(e.condensed.to) + " are not shown to the model any more")), e.condensed.summary ? text(e.condensed.summary) : null],
  usage: (e) => [line("Usage", usageFacts(e.usage))],
  model,
  kept: (e, ctx) => [line("Kept", ctx.file(e.kept.blob) ? h("a", { href: ctx.file(e.kept.blob), download: "", title: "Download what was kept; the agent's work is a .tar.zst" }, plain(e.kept.what)) : h("span", {}, plain(e.kept.what)), h("span", { class: "soft" }, bytes(e.kept.bytes)))],
  screen: (e) => [line("Screen", h("span", { class: "soft" }, plain(e.screen.what))), screenFacts(e.screen.screen), around(e.screen.around)],
  input: inputs,
  look,
  reacted: (e) => [line("Plays", fact("steps", count(e.reacted.steps)), fact("actions", count(e.reacted.actions)), fact("frames answered", count(e.reacted.answers.length)))],
  play: (e) => [line("Played"), playFacts(e.play || {})],
  end: (e) => [line("Turn ended", h("strong", {}, words(plain(e.end))))],
  ran,
  check: (e) => [line("Check"), checkResult(e.check, null, null)],
  verdict: (e) => [line("Verdict", sign(e.verdict.passed ? "passed" : "failed"), h("strong", {}, e.verdict.passed ? "passed" : "failed"), fact("score", percent(e.verdict.score)))],
  fault: (e) => [line("Fault", tag(words(plain(e.fault.class)), "warn")), text(e.fault.message, { kind: "bad" })],
  note: (e) => [line("Note"), text(e.note)],
};

function body(event, ctx) {
  const show = Object.hasOwn(KINDS, event.kind) ? KINDS[event.kind] : null;
  if (!show) return [line(words(plain(event.kind)), tag("a kind of event that this version does not know")), json(event[event.kind] ?? event)];
  try {
    return show(event, ctx);
  } catch {
    return [line(words(plain(event.kind))), json(event)];
  }
}

export function eventBlock(event, ctx) {
  const known = Object.hasOwn(KINDS, event.kind) ? event.kind : "other";
  const source = ["agent", "environment", "user", "grader", "harness"].includes(event.source) ? event.source : "harness";
  return h("section", { class: "event event-" + known + " from-" + source, dataset: { seq: event.seq } },
    h("span", { class: "event-time", title: "Event " + Number(event.seq) + ", from the " + source }, stamp(event.t)),
    body(event, ctx),
    event.cut ? h("p", { class: "note" }, "Long texts are cut. ", h("button", { type: "button", class: "unfold", onclick: (click) => whole(click.target, event, ctx) }, "Load the whole event")) : null);
}

async function whole(button, event, ctx) {
  button.disabled = true;
  try {
    const full = await ctx.event(event.seq);
    button.closest(".event").replaceWith(eventBlock({ ...full, cut: false }, ctx));
  } catch (error) {
    button.textContent = plain(error.message);
  }
}

// An observation that says no more than that something was done.
function says(event) {
  const seen = event.observation;
  if (event.kind !== "observation" || !seen) return true;
  return seen.kind !== "done" || Boolean(seen.text || seen.screen || seen.changed || seen.cwd || seen.running || seen.pictures) || typeof seen.exit_status === "number";
}

// All but what says nothing, and checks, which have a tab of their own once there is a verdict.
export function stepEvents(step, ctx) {
  const verdict = step.events.some((event) => event.kind === "verdict");
  const shown = step.events.filter((event) => says(event) && !(verdict && event.kind === "check"));
  return h("div", { class: "events" },
    shown.map((event) => eventBlock(event, ctx)),
    step.more ? h("p", { class: "note" }, count(step.more) + " further events of this step are not shown.") : null,
    shown.length ? null : h("p", { class: "soft" }, "Nothing was recorded."));
}

// Every event as it is recorded.
export function rawEvents(step, ctx) {
  return h("div", { class: "raw" }, step.events.map((event) =>
    opening(h("span", {}, h("span", { class: "mono" }, "#" + Number(event.seq)), " ", h("strong", {}, plain(event.kind)), " ", h("span", { class: "soft" }, plain(event.source) + " · " + stamp(event.t))),
      async () => json(event.cut ? await ctx.event(event.seq) : event))),
    step.more ? h("p", { class: "note" }, count(step.more) + " further events are not listed.") : null);
}
