// Places in lists that are sorted by time.

function first(one) {
  return one[0];
}

// The last of a sorted list that is not after a time; -1: none.
export function lastBefore(list, t, time = first) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time(list[middle]) <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Those from a time on and before another; each begins with its time.
export function between(list, from, to) {
  return list.slice(lastBefore(list, from - 1e-9) + 1, lastBefore(list, to - 1e-9) + 1);
}
