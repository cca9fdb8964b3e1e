cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/lib/parser.js b/lib/parser.js
index 38aa2c8..eac92d6 100644
--- a/lib/parser.js
+++ b/lib/parser.js
@@ -1,64 +1,89 @@
 "use strict";
 
+const { StringDecoder } = require("node:string_decoder");
+
 const { CsvError } = require("./error");
 
+// Where the last character has left us. Nothing ever looks at the next one: it may be in another chunk.
+const START = 0; // at the beginning of a field
+const PLAIN = 1; // in a field without quotes
+const QUOTED = 2; // between quotes
+const CLOSED = 3; // behind a quote that closes, or is the first of two
+
 class CsvParser {
   constructor({ delimiter = ",", onRow }) {
     this.delimiter = delimiter;
     this.onRow = onRow;
+    this.decoder = new StringDecoder("utf8");
+    this.begun = false;
     this.row = [];
     this.field = "";
-    this.quoted = false; // inside of quotes
+    this.state = START;
+    this.afterReturn = false; // the last character was a CR
     this.line = 1;
     this.rowLine = 1;
   }
 
   write(chunk) {
-    let text = chunk.toString("utf8");
-    if (text.startsWith("\uFEFF")) text = text.slice(1);
-    for (let at = 0; at < text.length; at++) {
-      const char = text[at];
-      if (this.quoted) {
-        if (char === '"' && text[at + 1] === '"') {
-          this.field += '"';
-          at++;
-        } else if (char === '"') {
-          this.quoted = false;
-          const next = text[at + 1];
-          if (next !== undefined && next !== this.delimiter && next !== "\n" && next !== "\r") {
-            throw new CsvError("there is something behind the closing quote", this.rowLine);
-          }
-        } else {
-          if (char === "\n") this.line++;
-          this.field += char;
-        }
-      } else if (char === '"' && this.field === "") {
-        this.quoted = true;
-      } else if (char === this.delimiter) {
-        this.row.push(this.field);
-        this.field = "";
-      } else if (char === "\r" || char === "\n") {
-        if (char === "\r" && text[at + 1] === "\n") at++;
-        this.line++;
-        this.endRow();
-      } else {
-        this.field += char;
-      }
-    }
+    this.read(typeof chunk === "string" ? chunk : this.decoder.write(chunk));
   }
 
   end() {
-    if (this.quoted) throw new CsvError("a quote is never closed", this.rowLine);
+    this.read(this.decoder.end());
+    if (this.state === QUOTED) throw new CsvError("a quote is never closed", this.rowLine);
     this.endRow();
   }
 
-  endRow() {
-    if (this.row.length > 0 || this.field !== "") {
-      this.row.push(this.field);
-      this.onRow(this.row);
+  read(text) {
+    let at = 0;
+    if (!this.begun && text !== "") {
+      this.begun = true;
+      if (text[0] === "\uFEFF") at = 1;
     }
-    this.row = [];
+    for (; at < text.length; at++) this.take(text[at]);
+  }
+
+  take(char) {
+    const secondHalf = char === "\n" && this.afterReturn;
+    this.afterReturn = char === "\r";
+    const endsLine = (char === "\r" || char === "\n") && !secondHalf;
+    if (endsLine) this.line++;
+    if (this.state === QUOTED) {
+      if (char === '"') this.state = CLOSED;
+      else this.field += char;
+    } else if (char === '"' && this.state === START) {
+      this.state = QUOTED;
+    } else if (char === '"' && this.state === CLOSED) {
+      this.state = QUOTED;
+      this.field += char;
+    } else if (char === this.delimiter) {
+      this.endField();
+    } else if (endsLine) {
+      this.endRow();
+    } else if (secondHalf) {
+      // The row has ended with the CR.
+    } else if (this.state === CLOSED) {
+      throw new CsvError("there is something behind the closing quote", this.rowLine);
+    } else {
+      this.state = PLAIN;
+      this.field += char;
+    }
+  }
+
+  endField() {
+    this.row.push(this.field);
     this.field = "";
+    this.state = START;
+  }
+
+  endRow() {
+    if (this.row.length > 0 || this.state !== START) {
+      this.endField();
+      const row = this.row;
+      this.row = [];
+      this.rowLine = this.line;
+      this.onRow(row);
+    }
     this.rowLine = this.line;
   }
 }
PATCH
