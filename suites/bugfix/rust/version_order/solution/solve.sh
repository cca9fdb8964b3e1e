cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/src/order.rs b/src/order.rs
index 1f3b16d..4ffbb4e 100644
--- a/src/order.rs
+++ b/src/order.rs
@@ -12,7 +12,8 @@ pub fn highest(versions: Vec<Version>, stable: bool) -> Vec<String> {
     let best = versions
         .into_iter()
         .filter(|version| !stable || version.is_stable())
-        .max();
+        // Of equal ones `max` would take the last.
+        .reduce(|best, next| if next > best { next } else { best });
     best.iter().map(|version| version.text().to_string()).collect()
 }
 
diff --git a/src/version.rs b/src/version.rs
index 621a961..91fbbea 100644
--- a/src/version.rs
+++ b/src/version.rs
@@ -2,22 +2,42 @@
 
 use std::cmp::Ordering;
 
-#[derive(Debug, Clone, PartialEq, Eq)]
+/// Two versions are equal when they have the same precedence, whatever they look like.
+#[derive(Debug, Clone)]
 pub struct Version {
-    numbers: [u32; 3],
-    pre: Vec<String>,
-    build: Vec<String>,
+    numbers: [Identifier; 3],
+    pre: Vec<Identifier>,
     /// As it was written.
     text: String,
 }
 
+/// Derived order: numbers come first and by length, which for digits without leading zeros is their size.
+#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
+enum Identifier {
+    Number(usize, String),
+    Word(String),
+}
+
+impl Identifier {
+    fn new(text: &str) -> Self {
+        if is_digits(text) {
+            Identifier::Number(text.len(), text.to_string())
+        } else {
+            Identifier::Word(text.to_string())
+        }
+    }
+}
+
 impl Version {
     pub fn parse(text: &str) -> Result<Self, String> {
         let complaint = || format!("`{text}` is no version");
         let body = text.strip_prefix('v').unwrap_or(text);
-        let (body, build) = match body.split_once('+') {
-            Some((body, build)) => (body, identifiers(build).ok_or_else(complaint)?),
-            None => (body, Vec::new()),
+        let body = match body.split_once('+') {
+            Some((body, build)) => {
+                identifiers(build).ok_or_else(complaint)?;
+                body
+            }
+            None => body,
         };
         let (body, pre) = match body.split_once('-') {
             Some((body, pre)) => (body, identifiers(pre).ok_or_else(complaint)?),
@@ -30,14 +50,9 @@ impl Version {
         if pre.iter().any(|part| is_digits(part) && !is_number(part)) {
             return Err(complaint());
         }
-        let mut numbers = [0; 3];
-        for (number, part) in numbers.iter_mut().zip(parts) {
-            *number = part.parse().unwrap();
-        }
         Ok(Version {
-            numbers,
-            pre,
-            build,
+            numbers: [0, 1, 2].map(|at| Identifier::new(parts[at])),
+            pre: pre.iter().map(|part| Identifier::new(part)).collect(),
             text: text.to_string(),
         })
     }
@@ -57,10 +72,17 @@ impl Ord for Version {
             .cmp(&other.numbers)
             .then_with(|| self.pre.is_empty().cmp(&other.pre.is_empty()))
             .then_with(|| self.pre.cmp(&other.pre))
-            .then_with(|| self.build.cmp(&other.build))
     }
 }
 
+impl PartialEq for Version {
+    fn eq(&self, other: &Self) -> bool {
+        self.cmp(other) == Ordering::Equal
+    }
+}
+
+impl Eq for Version {}
+
 impl PartialOrd for Version {
     fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
         Some(self.cmp(other))
PATCH
