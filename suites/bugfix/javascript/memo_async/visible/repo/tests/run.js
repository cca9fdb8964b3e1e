"use strict";

const assert = require("node:assert");
const remember = require("..");

const tests = {
  "a value is remembered"() {
    let calls = 0;
    const f = remember((n) => ++calls && n * 2);
    assert.deepStrictEqual([f(2), f(2), calls], [4, 4, 1]);
  },
  async "a promise is remembered"() {
    let calls = 0;
    const f = remember(async (n) => ++calls && n * 2);
    assert.deepStrictEqual([await f(2), await f(2), calls], [4, 4, 1]);
  },
  "values grow old"() {
    let time = 0;
    let calls = 0;
    const f = remember(() => ++calls, { ttl: 10, now: () => time });
    f();
    time = 11;
    assert.strictEqual(f(), 2);
  },
  "no more than max"() {
    const f = remember((n) => n, { max: 2 });
    [1, 2, 3].forEach((n) => f(n));
    assert.strictEqual(f.size, 2);
  },
  "forget and clear"() {
    const f = remember((n) => n);
    f(1), f(2), f(3);
    assert.deepStrictEqual([f.forget(1), f.forget(1), f.size], [true, false, 2]);
    f.clear();
    assert.strictEqual(f.size, 0);
  },
};

(async () => {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok   ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}: ${error.message}`);
    }
  }
  process.exitCode = failed ? 1 : 0;
})();
