#!/usr/bin/env node
"use strict";

const { CsvError, CsvParser } = require("..");

const words = process.argv.slice(2);
let delimiter = ",";
if (words[0] === "-d" && words.length === 2 && words[1].length === 1) {
  delimiter = words[1];
} else if (words.length > 0) {
  process.stderr.write("usage: csv2json [-d DELIMITER] < in.csv\n");
  process.exit(2);
}

const parser = new CsvParser({
  delimiter,
  onRow: (row) => process.stdout.write(JSON.stringify(row) + "\n"),
});

function complain(error) {
  if (!(error instanceof CsvError)) throw error;
  process.stderr.write(`csv2json: ${error.message}\n`);
  process.exitCode = 1;
  process.stdin.destroy();
}

let failed = false;
function attempt(step) {
  if (failed) return;
  try {
    step();
  } catch (error) {
    failed = true;
    complain(error);
  }
}

process.stdin.on("data", (chunk) => attempt(() => parser.write(chunk)));
process.stdin.on("end", () => attempt(() => parser.end()));
