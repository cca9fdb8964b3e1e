// Stands in for source.js in a run that is shared as files: what a server would answer lies in scripts
// beside the pages, which are loaded when they are asked for. Pages work the same, and change nothing.
//
// A data script calls agonData(name, JSON); its name is its place below the root, without ".js".
import { filtered as tasksOf } from "./compare_static.js";
import { filtered } from "./trials_static.js";

// So many steps are in one script (export/trial.rs).
const CHUNK = 50;

function meta(name) {
  const found = document.querySelector(`meta[name="${name}"]`);
  return found ? found.content : "";
}

const root = meta("agon-root");

const may = meta("agon-capabilities").split(" ");

// `choose`: some of the runs can be compared, not just all; `pairs`: two of them, or all.
export const capabilities = { live: false, review: false, stop: false, choose: may.includes("pairs"), pairs: may.includes("pairs"), compare: may.includes("compare") };

function missing(message) {
  const error = new Error(message);
  error.status = 404;
  return error;
}

const loaded = new Map();
const waiting = new Map();

window.agonData = (name, text) => {
  const found = waiting.get(name);
  if (found) found(JSON.parse(text));
};

// The value of a data script; loaded once.
function data(name) {
  if (!loaded.has(name)) {
    const promise = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const end = () => {
        script.remove();
        waiting.delete(name);
        // Comes too late for what was there.
        reject(missing("This is not part of the export."));
      };
      waiting.set(name, resolve);
      script.onload = end;
      script.onerror = end;
      script.src = `${root}${name.split("/").map(encodeURIComponent).join("/")}.js`;
      document.head.append(script);
    });
    promise.catch(() => loaded.delete(name));
    loaded.set(name, promise);
  }
  return loaded.get(name);
}

function search(params) {
  if (params instanceof URLSearchParams) return params;
  if (typeof params === "string") return new URLSearchParams(params);
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {})) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(name, String(one));
  }
  return pairs;
}

function number(params, name, otherwise) {
  const value = Number.parseInt(params.get(name), 10);
  return Number.isFinite(value) && value >= 0 ? value : otherwise;
}

async function trials(run, params) {
  const all = await data(`runs/${run}/trials`);
  const rows = filtered(all, params);
  const offset = number(params, "offset", 0);
  const limit = number(params, "limit", 100);
  return { total: rows.length, offset, rows: rows.slice(offset, offset + limit), revision: 1 };
}

// Where the comparison of runs is: two of more, or all.
function comparison(runs) {
  return capabilities.pairs && runs && runs.length === 2 ? `compare/pair/${runs.join("/")}` : "compare";
}

async function compared(params) {
  const { rows, kinds } = tasksOf(await data(comparison(params.getAll("run")) + "/tasks"), params);
  const offset = number(params, "offset", 0);
  return { total: rows.length, offset, rows: rows.slice(offset, offset + number(params, "limit", 100)), kinds };
}

async function neighbours(run, key, params) {
  const rows = filtered(await data(`runs/${run}/trials`), params);
  const same = (row) => row.task === key.task && row.epoch === key.epoch && row.attempt === key.attempt;
  const at = rows.findIndex(same);
  const named = (row) => (row ? { task: row.task, epoch: row.epoch, attempt: row.attempt } : null);
  return at < 0 ? { previous: null, next: null } : { previous: named(rows[at - 1]), next: named(rows[at + 1]) };
}

async function step(place, n) {
  const first = Math.floor(n / CHUNK) * CHUNK;
  const found = (await data(`${place}/steps-${first}`))[n - first];
  if (!found) throw missing(`Step ${n} is not part of the export.`);
  return found;
}

async function steps(place, params) {
  const rows = await data(`${place}/rows`);
  const from = number(params, "from", 0);
  return { total: rows.length, from, rows: rows.slice(from, from + number(params, "count", 100)) };
}

async function trial(run, parts, params) {
  const [category, id, epoch, attempt, ...rest] = parts;
  const place = `runs/${run}/trial/${category}/${id}/${epoch}/${attempt}`;
  const key = { task: `${category}/${id}`, epoch: Number(epoch), attempt: Number(attempt) };
  const [what, n, which] = rest;
  if (what === undefined) return data(`${place}/head`);
  if (what === "steps" && n === undefined) return steps(place, params);
  if (what === "steps") return step(place, Number(n));
  if (what === "events" && which === undefined) return data(`${place}/event-${n}`);
  if (what === "events") return data(`${place}/event-${n}-${which}`);
  if (what === "track") return data(`${place}/track`);
  if (what === "neighbours") return neighbours(run, key, params);
  throw missing("This is not part of the export.");
}

export async function get(path, given) {
  const params = search(given);
  const parts = path.replace(/^\/?(api\/)?/, "").split("/").filter(Boolean).map(decodeURIComponent);
  const [first, run, what, ...rest] = parts;
  if (first === "runs" && what === "trials") return trials(run, params);
  if (first === "runs" && what === "trial") return trial(run, rest, params);
  if (first === "compare" && run === "tasks") return compared(params);
  throw missing("This is not part of the export.");
}

export function post() {
  return Promise.reject(missing("An export changes nothing: open the run with `agon view`."));
}

export function fragment() {
  return Promise.reject(missing("An export does not change."));
}

export function feed() {
  return () => {};
}

function part(text) {
  return encodeURIComponent(String(text));
}

export function picture(run, digest) {
  return `${root}runs/${part(run)}/blobs/${part(digest)}.img`;
}

export function thumb(run, digest) {
  return `${root}runs/${part(run)}/thumbs/${part(digest)}.img`;
}

// Files other than pictures are not part of it.
export function file() {
  return null;
}

function asked(params) {
  const text = search(params).toString().replaceAll("%2C", ",");
  return text ? `?${text}` : "";
}

const PAGES = {
  runs: () => `${root}index.html`,
  run: (run, query) => `${root}runs/${part(run)}/index.html${asked(query)}`,
  live: (run) => PAGES.run(run),
  review: (run) => PAGES.run(run),
  trial: (run, key, query, n) => {
    const pairs = new URLSearchParams(asked(query));
    pairs.delete("step");
    if (n !== undefined && n !== null) pairs.set("step", String(n));
    const task = key.task.split("/").map(part).join("/");
    return `${root}runs/${part(run)}/trial/${task}/${part(key.epoch)}/${part(key.attempt)}/index.html${asked(pairs)}`;
  },
  compare: (runs) => `${root}${comparison(runs).split("/").map(part).join("/")}/index.html`,
  sidebyside: (task, runs) => `${root}compare/task/${String(task).split("/").map(part).join("/")}/index.html${comparison(runs) === "compare" ? "" : asked({ run: runs })}`,
};

export function link(page, ...parts) {
  return PAGES[page](...parts);
}
