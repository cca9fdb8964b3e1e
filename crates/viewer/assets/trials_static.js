// Filters and sorts all trials of a run, as the index of a server does (index/query.rs): same words, same
// order. `rows`: every attempt in the order of the record, then the trials without a result; each with what
// index/whole.rs says beside what a row has.
import { parse } from "./query.js";

const LEVELS = ["paper", "wood", "bronze", "silver", "gold"];
const STATES = ["passed", "failed", "faulted", "running", "missing"];

function one(list, value) {
  return list.length === 0 || list.includes(value);
}

function fits(row, query, words) {
  return (query.attempts || row.counts)
    && one(query.outcome, row.state)
    && (query.fault.length === 0 || (row.state === "faulted" && query.fault.includes(row.fault)))
    && one(query.level, row.level || "none")
    && one(query.category, row.task.slice(0, row.task.indexOf("/")))
    && (query.check.length === 0 || row.failed.some((name) => query.check.includes(name)))
    && (query.flag.length === 0 || query.flag.some((name) => (name === "unreviewed" ? row.unreviewed : row.flags.includes(name))))
    && words.every((word) => row.words.includes(word));
}

function total(seconds) {
  return seconds.agent + seconds.environment + seconds.harness;
}

// What a trial without a result is sorted by is not known.
function ended(value) {
  return (row) => (row.ended ? value(row) : null);
}

const KEYS = {
  level: (row) => (row.level ? LEVELS.indexOf(row.level) : null),
  outcome: (row) => STATES.indexOf(row.state),
  score: (row) => row.score,
  measured: (row) => row.measured,
  steps: ended((row) => row.steps),
  seconds: ended((row) => total(row.seconds)),
  tokens: ended((row) => row.tokens),
  cost: (row) => row.money,
};

function compare(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// What is not known comes last, whichever way; equals stay as they are.
function sort(rows, query) {
  const way = query.desc ? -1 : 1;
  if (query.sort === "ended") {
    if (!query.desc) return rows;
    return [...rows.filter((row) => row.ended).reverse(), ...rows.filter((row) => !row.ended)];
  }
  if (query.sort === "task") {
    return rows.sort((a, b) => way * (compare(a.task, b.task) || a.epoch - b.epoch));
  }
  const key = KEYS[query.sort] || (() => null);
  return rows.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return way * compare(x, y);
  });
}

// As Rust divides a text.
const SPACE = /\p{White_Space}+/u;

export function filtered(all, params) {
  const query = parse(params.toString());
  const words = query.q.toLowerCase().split(SPACE).filter(Boolean);
  return sort(all.filter((row) => fits(row, query, words)), query);
}
