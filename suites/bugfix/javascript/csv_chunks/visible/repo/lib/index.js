"use strict";

const { CsvError } = require("./error");
const { CsvParser } = require("./parser");

/** All rows of a text. */
function parse(text, options = {}) {
  const rows = [];
  const parser = new CsvParser({ ...options, onRow: (row) => rows.push(row) });
  parser.write(text);
  parser.end();
  return rows;
}

module.exports = { CsvError, CsvParser, parse };
