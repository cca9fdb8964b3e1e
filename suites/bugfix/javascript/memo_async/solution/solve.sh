cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/lib/index.js b/lib/index.js
index 847ed3f..e751525 100644
--- a/lib/index.js
+++ b/lib/index.js
@@ -1,24 +1,31 @@
 "use strict";
 
+const { Names } = require("./names");
 const { Store } = require("./store");
 
 function remember(fn, { max = Infinity, ttl = Infinity, key, now = Date.now } = {}) {
-  const store = new Store(max, ttl, now);
-  const keyOf = key || ((...args) => JSON.stringify(args));
+  const names = new Names();
+  const store = new Store(max, ttl, now, (name) => names.drop(name));
+  const wordsOf = key ? (args) => [key(...args)] : (args) => args;
 
   function remembered(...args) {
-    const name = keyOf(...args);
-    const known = store.get(name);
-    if (known) return known;
+    const words = wordsOf(args);
+    const known = store.get(names.find(words));
+    if (known) return known.value;
     const value = fn.apply(this, args);
+    // The function may have called itself with the same arguments.
+    const entry = store.set(names.make(words), value);
     if (value && typeof value.then === "function") {
-      value.then((settled) => store.set(name, Promise.resolve(settled)));
+      entry.pending = true;
+      value.then(
+        () => store.settle(entry),
+        () => store.drop(entry),
+      );
     }
-    store.set(name, value);
     return value;
   }
 
-  remembered.forget = (...args) => store.delete(keyOf(...args));
+  remembered.forget = (...args) => store.delete(names.find(wordsOf(args)));
   remembered.clear = () => store.clear();
   Object.defineProperty(remembered, "size", { get: () => store.size });
   return remembered;
diff --git a/lib/names.js b/lib/names.js
new file mode 100644
index 0000000..c39a9fd
--- /dev/null
+++ b/lib/names.js
@@ -0,0 +1,46 @@
+"use strict";
+
+// A Map takes 0 and -0 for the same key; Object.is does not.
+const MINUS_ZERO = Symbol("-0");
+const own = (word) => (Object.is(word, -0) ? MINUS_ZERO : word);
+
+/** One object for every list of words that are the same by Object.is: a tree with one level for each word. */
+class Names {
+  constructor() {
+    this.root = { parent: null, word: undefined, next: new Map(), used: false };
+  }
+
+  find(words) {
+    let node = this.root;
+    for (const word of words) {
+      node = node.next.get(own(word));
+      if (!node) return undefined;
+    }
+    return node;
+  }
+
+  make(words) {
+    let node = this.root;
+    for (const word of words) {
+      let next = node.next.get(own(word));
+      if (!next) {
+        next = { parent: node, word: own(word), next: new Map(), used: false };
+        node.next.set(own(word), next);
+      }
+      node = next;
+    }
+    node.used = true;
+    return node;
+  }
+
+  /** Gives back what only this name needed. */
+  drop(node) {
+    node.used = false;
+    while (node.parent && !node.used && node.next.size === 0) {
+      node.parent.next.delete(node.word);
+      node = node.parent;
+    }
+  }
+}
+
+module.exports = { Names };
diff --git a/lib/store.js b/lib/store.js
index fcd9986..dcf5400 100644
--- a/lib/store.js
+++ b/lib/store.js
@@ -2,41 +2,70 @@
 
 /** Values by name; bounded in number and age. */
 class Store {
-  constructor(max, ttl, now) {
+  constructor(max, ttl, now, dropped) {
     this.max = max;
     this.ttl = ttl;
     this.now = now;
-    this.entries = new Map(); // the order of a Map is that of insertion
+    this.dropped = dropped;
+    this.entries = new Map(); // the order of a Map is that of insertion: the one used last is at its end
   }
 
   get size() {
+    for (const entry of [...this.entries.values()]) {
+      if (this.isOld(entry)) this.drop(entry);
+    }
     return this.entries.size;
   }
 
+  isOld(entry) {
+    return !entry.pending && this.now() - entry.since > this.ttl;
+  }
+
+  /** The entry, so that a remembered `undefined` can be told from nothing. */
   get(name) {
     const entry = this.entries.get(name);
     if (!entry) return undefined;
-    if (this.now() - entry.since > this.ttl) {
-      this.entries.delete(name);
+    if (this.isOld(entry)) {
+      this.drop(entry);
       return undefined;
     }
-    return entry.value;
+    this.entries.delete(name);
+    this.entries.set(name, entry);
+    return entry;
   }
 
   set(name, value) {
-    this.entries.set(name, { value, since: this.now() });
+    const entry = { name, value, pending: false, since: this.now() };
+    this.entries.delete(name);
+    this.entries.set(name, entry);
     if (this.entries.size > this.max) {
-      const oldest = this.entries.keys().next().value;
-      this.entries.delete(oldest);
+      this.drop(this.entries.values().next().value);
     }
+    return entry;
+  }
+
+  /** A promise was fulfilled; now it begins to grow old. */
+  settle(entry) {
+    entry.pending = false;
+    entry.since = this.now();
+  }
+
+  /** Forgets this entry, unless another one has taken its place. */
+  drop(entry) {
+    if (this.entries.get(entry.name) === entry) this.delete(entry.name);
   }
 
   delete(name) {
-    return this.entries.delete(name);
+    const entry = this.entries.get(name);
+    if (!entry) return false;
+    const old = this.isOld(entry);
+    this.entries.delete(name);
+    this.dropped(name);
+    return !old;
   }
 
   clear() {
-    this.entries.clear();
+    for (const name of [...this.entries.keys()]) this.delete(name);
   }
 }
 
PATCH
