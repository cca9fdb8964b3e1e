// Where everything that a page shows comes from, and where it goes: the only module that knows a server.
// A run that is shared as files has another module in its place, with the same functions.
//
// get(path, params)     JSON of /api + path; params: an object of strings or lists, or URLSearchParams.
// post(path, body)      JSON to /api + path; answers as JSON.
// fragment(path)        a piece of a page, as a DocumentFragment.
// feed(run, handlers)   calls handlers[name](data) for each event of a run: progress, trial, moment, stopping,
//                       review; and open(), where given. Returns a function that ends it. That the connection is
//                       lost stands on the page meanwhile.
// picture, thumb        addresses of a blob and of its small picture.
// file(run, digest)     the address of a blob that is no picture; null where there are none.
// link(page, ...)       addresses of pages:
//   link("runs")  link("run", run, query)  link("live", run)  link("review", run, query, afterKey)
//   link("trial", run, key, query, step)   link("compare", runs)  link("sidebyside", task, runs)
//   query: a query string, URLSearchParams, or an object of strings; key: {task, epoch, attempt}.
// Whoever calls gets an Error with `status` and a message that can be shown where something fails.

import { connected } from "./dom.js";

const GIVE_UP = 30000;

function meta(name) {
  const found = document.querySelector(`meta[name="${name}"]`);
  return found ? found.content : "";
}

const may = meta("agon-capabilities").split(" ");

export const capabilities = { live: may.includes("live"), review: may.includes("review"), stop: may.includes("stop"), choose: true, pairs: false, compare: true };

function search(params) {
  const pairs = new URLSearchParams(typeof params === "string" || params instanceof URLSearchParams ? params : "");
  if (params && typeof params === "object" && !(params instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(params)) {
      if (value === undefined || value === null || value === "" || value === false) continue;
      if (Array.isArray(value)) value.forEach((one) => pairs.append(name, String(one)));
      else pairs.append(name, String(value));
    }
  }
  // Commas stand between the values of a list, and need no escape.
  const text = pairs.toString().replaceAll("%2C", ",");
  return text ? `?${text}` : "";
}

function part(text) {
  return encodeURIComponent(String(text));
}

function task(name) {
  return String(name).split("/").map(part).join("/");
}

function api(path) {
  return path.startsWith("/api/") ? path : `/api${path.startsWith("/") ? "" : "/"}${path}`;
}

async function ask(address, options) {
  let answer;
  try {
    answer = await fetch(address, { credentials: "same-origin", signal: AbortSignal.timeout(GIVE_UP), ...options });
  } catch (cause) {
    const error = new Error("The viewer does not answer: is `agon view` still running?");
    error.status = 0;
    error.cause = cause;
    throw error;
  }
  if (answer.ok) return answer;
  let message = `${answer.status} ${answer.statusText}`;
  try {
    message = (await answer.json()).error || message;
  } catch {
    // The status says it.
  }
  const error = new Error(message);
  error.status = answer.status;
  throw error;
}

export function get(path, params) {
  return ask(api(path) + search(params)).then((answer) => answer.json());
}

export function post(path, body) {
  const headers = { "Content-Type": "application/json", "X-Agon-Token": meta("agon-token") };
  const options = { method: "POST", headers, body: JSON.stringify(body) };
  return ask(api(path), options).then((answer) => answer.json());
}

function parsed(text) {
  const whole = new DOMParser().parseFromString(text, "text/html");
  const piece = document.createDocumentFragment();
  piece.append(...document.adoptNode(whole.body).childNodes);
  return piece;
}

export function fragment(path, params) {
  return ask(path + search(params)).then((answer) => answer.text()).then(parsed);
}

const NAMES = ["progress", "trial", "moment", "stopping", "review"];

// A browser keeps only six connections to a server: a page that nobody sees gives its own back.
export function feed(run, handlers) {
  if (!capabilities.live) return () => {};
  let events = null;
  let again = 0;
  const close = () => {
    clearTimeout(again);
    if (events) events.close();
    events = null;
  };
  const open = () => {
    close();
    events = new EventSource(`/api/runs/${part(run)}/feed`);
    events.onopen = () => {
      connected(true);
      if (handlers.open) handlers.open();
    };
    events.onerror = () => {
      connected(false);
      // After a refusal the browser does not come again by itself.
      if (events && events.readyState === EventSource.CLOSED) {
        clearTimeout(again);
        again = setTimeout(open, 5000);
      }
    };
    for (const name of NAMES) {
      if (handlers[name]) events.addEventListener(name, (event) => handlers[name](JSON.parse(event.data)));
    }
  };
  const seen = () => {
    if (document.hidden) close();
    else if (!events) open();
  };
  // Pages that are left by a link may come back whole.
  const back = (event) => event.persisted && seen();
  document.addEventListener("visibilitychange", seen);
  addEventListener("pagehide", close);
  addEventListener("pageshow", back);
  seen();
  return () => {
    close();
    document.removeEventListener("visibilitychange", seen);
    removeEventListener("pagehide", close);
    removeEventListener("pageshow", back);
  };
}

export function picture(run, digest) {
  return `/runs/${part(run)}/blobs/${part(digest)}`;
}

export function file(run, digest) {
  return picture(run, digest);
}

export function thumb(run, digest) {
  return `/runs/${part(run)}/thumbs/${part(digest)}`;
}

function several(runs) {
  return search({ run: runs });
}

const PAGES = {
  runs: () => "/",
  run: (run, query) => `/runs/${part(run)}${search(query)}`,
  live: (run) => `/runs/${part(run)}/live`,
  review: (run, query, after) => {
    const pairs = new URLSearchParams(search(query));
    if (after) pairs.set("after", `${after.task}/${after.epoch}/${after.attempt}`);
    return `/runs/${part(run)}/review${search(pairs)}`;
  },
  trial: (run, key, query, step) => {
    const pairs = new URLSearchParams(search(query));
    pairs.delete("step");
    if (step !== undefined && step !== null) pairs.set("step", String(step));
    return `/runs/${part(run)}/trial/${task(key.task)}/${part(key.epoch)}/${part(key.attempt)}${search(pairs)}`;
  },
  compare: (runs) => `/compare${several(runs)}`,
  sidebyside: (name, runs) => `/compare/${task(name)}${several(runs)}`,
};

export function link(page, ...parts) {
  return PAGES[page](...parts);
}
