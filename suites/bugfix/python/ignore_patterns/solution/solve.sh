cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/sift/pattern.py b/sift/pattern.py
index 2924320..48d35f5 100644
--- a/sift/pattern.py
+++ b/sift/pattern.py
@@ -1,6 +1,6 @@
 """One line of a .siftignore."""
 
-from fnmatch import fnmatch
+import re
 
 
 class Pattern:
@@ -9,12 +9,83 @@ class Pattern:
         if self.takes_back:
             line = line[1:]
         self.folders_only = line.endswith("/")
+        line = line[:-1] if self.folders_only else line
         self.anchored = "/" in line
-        self.glob = line.strip("/")
+        self.regex = re.compile(translate(line[1:] if line.startswith("/") else line), re.DOTALL)
 
     def matches(self, path, is_folder):
         if self.folders_only and not is_folder:
             return False
-        if self.anchored:
-            return fnmatch(path, self.glob)
-        return fnmatch(path.rsplit("/", 1)[-1], self.glob)
+        subject = path if self.anchored else path.rsplit("/", 1)[-1]
+        return self.regex.fullmatch(subject) is not None
+
+
+def translate(glob):
+    """The glob as a regular expression over a whole path."""
+    made, at = "", 0
+    if glob.startswith("**/"):
+        made, at = "(?:.*/)?", 3
+    while at < len(glob):
+        rest = glob[at:]
+        if rest.startswith("/**/"):
+            made += "/(?:.*/)?"
+            at += 4
+            # `a/**/**/b` is `a/**/b`.
+            while glob[at:].startswith("**/"):
+                at += 3
+        elif rest == "/**":
+            made += "/.+"
+            at += 3
+        elif rest[0] == "*":
+            made += "[^/]*"
+            at += len(rest) - len(rest.lstrip("*"))
+        elif rest[0] == "?":
+            made += "[^/]"
+            at += 1
+        elif rest[0] == "[" and (end := closing(rest)):
+            made += one_of(rest[1:end])
+            at += end + 1
+        elif rest[0] == "\\" and len(rest) > 1:
+            made += re.escape(rest[1])
+            at += 2
+        else:
+            made += re.escape(rest[0])
+            at += 1
+    return made
+
+
+def closing(text):
+    """Where the set that `text` begins with ends; None if it does not."""
+    at = 2 if text[1:2] in ("!", "^") else 1
+    first = at
+    while at < len(text):
+        if text[at] == "\\":
+            at += 1
+        elif text[at] == "]" and at > first:
+            return at
+        at += 1
+    return None
+
+
+def one_of(body):
+    """What stands between brackets, as a set of a regular expression without the slash."""
+    other = body[0] in "!^"
+    body = body[1:] if other else body
+    parts, at = [], 0
+    while at < len(body):
+        if body[at] == "\\" and at + 1 < len(body):
+            at += 1
+        first = body[at]
+        at += 1
+        if at + 1 < len(body) and body[at] == "-":
+            at += 1
+            if body[at] == "\\" and at + 1 < len(body):
+                at += 1
+            if first <= body[at]:
+                parts.append(f"{re.escape(first)}-{re.escape(body[at])}")
+            at += 1
+        else:
+            parts.append(re.escape(first))
+    if not parts:
+        return "[^/]" if other else "(?!)"
+    return f"(?!/)[{'^' if other else ''}{''.join(parts)}]"
diff --git a/sift/rules.py b/sift/rules.py
index 5456e26..3f65d27 100644
--- a/sift/rules.py
+++ b/sift/rules.py
@@ -6,11 +6,21 @@ from .pattern import Pattern
 class Rules:
     def __init__(self, text):
         self.patterns = []
-        for line in text.splitlines():
-            line = line.strip()
+        for line in text.split("\n"):
+            line = without_end(line.rstrip("\r"))
             if line and not line.startswith("#"):
                 self.patterns.append(Pattern(line))
 
     def ignores(self, path, is_folder):
-        """Whether the path, relative to the folder of the rules, is left out."""
-        return any(pattern.matches(path, is_folder) for pattern in self.patterns)
+        """Whether the path, relative to the folder of the rules, is left out. Its folders are not looked at."""
+        for pattern in reversed(self.patterns):
+            if pattern.matches(path, is_folder):
+                return not pattern.takes_back
+        return False
+
+
+def without_end(line):
+    """The line without spaces at its end, of which one may be kept by a backslash."""
+    stripped = line.rstrip(" ")
+    backslashes = len(stripped) - len(stripped.rstrip("\\"))
+    return stripped + " " if backslashes % 2 and len(stripped) < len(line) else stripped
PATCH
