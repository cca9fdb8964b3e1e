cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/src/options.rs b/src/options.rs
index 15ae6a0..d4509aa 100644
--- a/src/options.rs
+++ b/src/options.rs
@@ -30,6 +30,6 @@ impl Options {
 
     /// How many characters there are for the text of a line.
     pub fn room(&self) -> usize {
-        (self.width - self.prefix.len()).max(1)
+        self.width.saturating_sub(self.prefix.chars().count()).max(1)
     }
 }
diff --git a/src/wrap.rs b/src/wrap.rs
index d6e56ee..5bdf852 100644
--- a/src/wrap.rs
+++ b/src/wrap.rs
@@ -4,20 +4,27 @@
 pub fn wrap(words: &[&str], room: usize) -> Vec<String> {
     let mut lines = Vec::new();
     let mut line = String::new();
+    let mut filled = 0;
     for word in words {
         let mut word = *word;
-        if !line.is_empty() && line.len() + 1 + word.len() > room {
+        let mut length = word.chars().count();
+        if filled > 0 && filled + 1 + length > room {
             lines.push(std::mem::take(&mut line));
+            filled = 0;
         }
-        while word.len() > room {
-            let (piece, rest) = word.split_at(room);
+        while length > room {
+            let cut = word.char_indices().nth(room).map_or(word.len(), |(at, _)| at);
+            let (piece, rest) = word.split_at(cut);
             lines.push(piece.to_string());
             word = rest;
+            length -= room;
         }
-        if !line.is_empty() {
+        if filled > 0 {
             line.push(' ');
+            filled += 1;
         }
         line.push_str(word);
+        filled += length;
     }
     if !line.is_empty() {
         lines.push(line);
PATCH
