// Numbers as people read them: the same words as in the reports (crates/report/src/text.rs).
//
// percent(share) "62.5 %", range(interval) "35.4 to 87.9 %", count(n) "1,234", short(n) "12.3k",
// duration(s) "4 min 5 s", clock(s) "4:05.2" (a place in a recording), money(dollars, unpriced) "$0.0123", "≥ $0.0123",
// value(x) "12.34" (measured), bytes(n) "1.2 MB", when(stamp) "2026-11-16 15:22" (local), day(stamp), time(stamp)
// "15:22:05", ago(stamp) "5 min ago", counted(n, "trial") "3 trials",
// words(name) "step limit" (of step_limit). What does not exist is NONE.

export const NONE = "–";

function none(x) {
  return x === null || x === undefined || Number.isNaN(x);
}

export function percent(share) {
  return none(share) ? NONE : (share * 100).toFixed(1) + " %";
}

export function range(interval) {
  if (none(interval)) return NONE;
  return (interval.low * 100).toFixed(1) + " to " + (interval.high * 100).toFixed(1) + " %";
}

export function count(number) {
  return none(number) ? NONE : String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function short(number) {
  if (none(number)) return NONE;
  if (number < 1000) return String(number);
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (number >= size) return (number / size).toFixed(number / size < 100 ? 1 : 0) + unit;
  }
  return String(number);
}

export function duration(seconds) {
  if (none(seconds)) return NONE;
  const whole = Math.round(seconds);
  if (seconds < 10) return seconds.toFixed(2) + " s";
  if (seconds < 120) return seconds.toFixed(1) + " s";
  if (seconds < 7200) return Math.floor(whole / 60) + " min " + (whole % 60) + " s";
  return Math.floor(whole / 3600) + " h " + Math.floor((whole % 3600) / 60) + " min";
}

export function clock(seconds) {
  if (none(seconds)) return NONE;
  const tenths = Math.floor(Math.max(0, seconds) * 10 + 1e-6);
  const [h, m, s] = [Math.floor(tenths / 36000), Math.floor(tenths / 600) % 60, (tenths / 10) % 60];
  const rest = s.toFixed(1).padStart(4, "0");
  return h > 0 ? h + ":" + String(m).padStart(2, "0") + ":" + rest : m + ":" + rest;
}

// How long an answer took: "2.3 ms", "251 ms".
export function millis(seconds) {
  if (none(seconds)) return NONE;
  return (seconds < 0.00995 ? (seconds * 1000).toFixed(1) : count(seconds * 1000)) + " ms";
}

// `unpriced`: some of it has no known price, so that it is a lower bound.
export function money(dollars, unpriced) {
  if (none(dollars)) return NONE;
  if (unpriced) return "≥ " + money(dollars);
  if (dollars === 0 || dollars >= 1) return "$" + dollars.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ",");
  return "$" + (dollars < 0.0001 ? dollars.toPrecision(2) : dollars.toFixed(4));
}

export function value(number) {
  if (none(number)) return NONE;
  return Number.isInteger(number) ? String(number) : number.toFixed(2);
}

export function bytes(number) {
  if (none(number)) return NONE;
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (number >= size) return (number / size).toFixed(1) + " " + unit;
  }
  return number + " B";
}

function two(number) {
  return String(number).padStart(2, "0");
}

export function day(stamp) {
  if (none(stamp)) return NONE;
  const at = new Date(stamp);
  return at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate());
}

export function time(stamp) {
  if (none(stamp)) return NONE;
  const at = new Date(stamp);
  return two(at.getHours()) + ":" + two(at.getMinutes()) + ":" + two(at.getSeconds());
}

export function when(stamp) {
  return none(stamp) ? NONE : day(stamp) + " " + time(stamp).slice(0, 5);
}

export function ago(stamp) {
  if (none(stamp)) return NONE;
  const seconds = (Date.now() - new Date(stamp).getTime()) / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h ago";
  return Math.floor(seconds / 86400) + " d ago";
}

export function counted(number, one, many) {
  return count(number) + " " + (number === 1 ? one : many || one + "s");
}

export function words(name) {
  return String(name ?? "").replace(/_/g, " ");
}
