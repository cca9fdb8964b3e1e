// Filters and sorts the tasks of a comparison, as a server does (compare/list.rs): same words, same order.
// `all`: {tasks, words}; words: what a search looks through, of each task, in lower case.
//
// filtered(all, params)  {rows, kinds}: the tasks that are asked for, and how many there are of each kind.

const LEVELS = ["paper", "wood", "bronze", "silver", "gold"];
const SPACE = /\p{White_Space}+/u;

// More often than not; null where nothing was graded.
function solved(cell) {
  return cell && cell.graded > 0 ? cell.passed * 2 > cell.graded : null;
}

function kind(task, against) {
  const [first, other] = [solved(task.cells[0]), solved(task.cells[against])];
  if (first === null || other === null) return "open";
  if (first) return other ? "both" : "lost";
  return other ? "gained" : "neither";
}

function score(task, at) {
  return task.cells[at] ? task.cells[at].score : null;
}

function key(sort, against) {
  if (sort === "task") return (task) => task.task;
  if (sort === "level") return (task) => (task.level ? LEVELS.indexOf(task.level) : null);
  // Runs are called A, B, C in their order.
  if (/^[A-Z]$/.test(sort)) return (task) => score(task, sort.charCodeAt(0) - 65);
  return (task) => {
    const [first, other] = [score(task, 0), score(task, against)];
    return first === null || other === null ? null : Math.abs(other - first);
  };
}

// What is not known comes last, whichever way; equals stay as they are.
function sorted(tasks, params, against) {
  const sort = params.get("sort") || "difference";
  const way = (params.get("desc") === "true") !== (sort === "difference") ? -1 : 1;
  const value = key(sort, against);
  return tasks.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return x === y ? 0 : x < y ? -way : way;
  });
}

export function filtered(all, params) {
  const against = Math.max(1, params.getAll("run").indexOf(params.get("against")));
  const show = params.get("show") || "all";
  const words = (params.get("q") || "").toLowerCase().split(SPACE).filter(Boolean);
  const kinds = { all: 0, gained: 0, lost: 0, both: 0, neither: 0, open: 0 };
  const rows = all.tasks.filter((task, at) => {
    if (!words.every((word) => all.words[at].includes(word))) return false;
    const own = kind(task, against);
    kinds.all += 1;
    kinds[own] += 1;
    return show === "all" || show === own;
  });
  return { rows: sorted(rows, params, against), kinds };
}
