"use strict";

const { Store } = require("./store");

function remember(fn, { max = Infinity, ttl = Infinity, key, now = Date.now } = {}) {
  const store = new Store(max, ttl, now);
  const keyOf = key || ((...args) => JSON.stringify(args));

  function remembered(...args) {
    const name = keyOf(...args);
    const known = store.get(name);
    if (known) return known;
    const value = fn.apply(this, args);
    if (value && typeof value.then === "function") {
      value.then((settled) => store.set(name, Promise.resolve(settled)));
    }
    store.set(name, value);
    return value;
  }

  remembered.forget = (...args) => store.delete(keyOf(...args));
  remembered.clear = () => store.clear();
  Object.defineProperty(remembered, "size", { get: () => store.size });
  return remembered;
}

module.exports = remember;
