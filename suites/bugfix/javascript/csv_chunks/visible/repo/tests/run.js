"use strict";

const assert = require("node:assert");
const { CsvError, parse } = require("..");

const tests = {
  "plain rows"() {
    assert.deepStrictEqual(parse("a,b\n1,2\r\n"), [["a", "b"], ["1", "2"]]);
  },
  "quotes"() {
    assert.deepStrictEqual(parse('"a ""b""","c,d"\n'), [['a "b"', "c,d"]]);
  },
  "line ends in quotes"() {
    assert.deepStrictEqual(parse('"a\nb",c'), [["a\nb", "c"]]);
  },
  "another delimiter"() {
    assert.deepStrictEqual(parse("a;b,c", { delimiter: ";" }), [["a", "b,c"]]);
  },
  "a quote that is never closed"() {
    assert.throws(() => parse('a\n"b'), (error) => error instanceof CsvError && error.line === 2);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}
process.exitCode = failed ? 1 : 0;
