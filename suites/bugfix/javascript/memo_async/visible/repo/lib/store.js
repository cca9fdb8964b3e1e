"use strict";

/** Values by name; bounded in number and age. */
class Store {
  constructor(max, ttl, now) {
    this.max = max;
    this.ttl = ttl;
    this.now = now;
    this.entries = new Map(); // the order of a Map is that of insertion
  }

  get size() {
    return this.entries.size;
  }

  get(name) {
    const entry = this.entries.get(name);
    if (!entry) return undefined;
    if (this.now() - entry.since > this.ttl) {
      this.entries.delete(name);
      return undefined;
    }
    return entry.value;
  }

  set(name, value) {
    this.entries.set(name, { value, since: this.now() });
    if (this.entries.size > this.max) {
      const oldest = this.entries.keys().next().value;
      this.entries.delete(oldest);
    }
  }

  delete(name) {
    return this.entries.delete(name);
  }

  clear() {
    this.entries.clear();
  }
}

module.exports = { Store };
