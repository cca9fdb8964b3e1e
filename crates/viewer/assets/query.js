// The list of trials that is shown, as it stands in an address (shape/query.rs).
//
// parse(search)  "?outcome=failed,faulted&sort=cost&desc=true" -> {q, outcome, fault, level, category, check,
//     flag, attempts, sort, desc}; what an address says besides is no part of it.
// write(query)   the other way: "" or "outcome=failed,faulted&..." without "?"; what is not said is left out.
// params(query)  an object of strings, for get(path, params).
// toggled(list, item)  with it, or without it if it was there.  narrows(query)  whether it leaves out any trial.

export const LISTS = ["outcome", "fault", "level", "category", "check", "flag"];
export const STATES = ["passed", "failed", "faulted", "running", "missing"];
export const FLAGS = ["reviewed", "unreviewed", "disagreed", "integrity", "tainted", "retried", "rerun", "elsewhere", "operator"];

// Commas stand between the values of a list; within one, `\,` is a comma and `\\` a backslash
// (index/query_string.rs).
function split(text) {
  const values = [""];
  for (let at = 0; at < (text || "").length; at += 1) {
    if (text[at] === ",") {
      values.push("");
      continue;
    }
    if (text[at] === "\\" && at + 1 < text.length) at += 1;
    values[values.length - 1] += text[at];
  }
  return values.filter((one) => one !== "");
}

function escaped(text) {
  return text.replace(/[\\,]/g, "\\$&");
}

// A parameter without a value is a switch that is on.
function on(text) {
  return text === "" || text === "true" || text === "1";
}

export function parse(search) {
  const said = new URLSearchParams(search);
  const query = { q: said.get("q") || "" };
  for (const name of LISTS) query[name] = said.getAll(name).flatMap(split);
  query.attempts = on(said.get("attempts"));
  query.sort = said.get("sort") || "ended";
  query.desc = on(said.get("desc"));
  return query;
}

export function params(query) {
  const said = {};
  if (query.q.trim()) said.q = query.q.trim();
  for (const name of LISTS) {
    if (query[name].length > 0) said[name] = query[name].map(escaped).join(",");
  }
  if (query.attempts) said.attempts = "true";
  if (query.sort !== "ended") said.sort = query.sort;
  if (query.desc) said.desc = "true";
  return said;
}

export function write(query) {
  return new URLSearchParams(params(query)).toString().replace(/%2C/g, ",");
}

export function toggled(list, item) {
  return list.includes(item) ? list.filter((one) => one !== item) : [...list, item];
}

export function narrows(query) {
  return query.q.trim() !== "" || LISTS.some((name) => query[name].length > 0);
}
