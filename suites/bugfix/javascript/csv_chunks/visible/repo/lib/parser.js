"use strict";

const { CsvError } = require("./error");

class CsvParser {
  constructor({ delimiter = ",", onRow }) {
    this.delimiter = delimiter;
    this.onRow = onRow;
    this.row = [];
    this.field = "";
    this.quoted = false; // inside of quotes
    this.line = 1;
    this.rowLine = 1;
  }

  write(chunk) {
    let text = chunk.toString("utf8");
    if (text.startsWith("\uFEFF")) text = text.slice(1);
    for (let at = 0; at < text.length; at++) {
      const char = text[at];
      if (this.quoted) {
        if (char === '"' && text[at + 1] === '"') {
          this.field += '"';
          at++;
        } else if (char === '"') {
          this.quoted = false;
          const next = text[at + 1];
          if (next !== undefined && next !== this.delimiter && next !== "\n" && next !== "\r") {
            throw new CsvError("there is something behind the closing quote", this.rowLine);
          }
        } else {
          if (char === "\n") this.line++;
          this.field += char;
        }
      } else if (char === '"' && this.field === "") {
        this.quoted = true;
      } else if (char === this.delimiter) {
        this.row.push(this.field);
        this.field = "";
      } else if (char === "\r" || char === "\n") {
        if (char === "\r" && text[at + 1] === "\n") at++;
        this.line++;
        this.endRow();
      } else {
        this.field += char;
      }
    }
  }

  end() {
    if (this.quoted) throw new CsvError("a quote is never closed", this.rowLine);
    this.endRow();
  }

  endRow() {
    if (this.row.length > 0 || this.field !== "") {
      this.row.push(this.field);
      this.onRow(this.row);
    }
    this.row = [];
    this.field = "";
    this.rowLine = this.line;
  }
}

module.exports = { CsvParser };
