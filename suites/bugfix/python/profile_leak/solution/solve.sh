cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/strata/merge.py b/strata/merge.py
index caaa038..718157e 100644
--- a/strata/merge.py
+++ b/strata/merge.py
@@ -1,14 +1,18 @@
 """Putting one layer on top of another."""
 
+from copy import deepcopy
+
 
 def merge(lower, upper):
-    """`upper` on top of `lower`; dicts are merged, everything else is replaced."""
-    merged = dict(lower)
+    """`upper` on top of `lower`; dicts are merged, everything else is replaced. Shares nothing with either."""
+    merged = deepcopy(lower)
     for key, value in upper.items():
         if value is None:
             merged.pop(key, None)
-        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
-            merged[key] = merge(merged[key], value)
+        elif isinstance(value, dict):
+            below = merged.get(key)
+            # Merged even with nothing below, so that a None further down is taken away there, too.
+            merged[key] = merge(below if isinstance(below, dict) else {}, value)
         else:
-            merged[key] = value
+            merged[key] = deepcopy(value)
     return merged
diff --git a/strata/profile.py b/strata/profile.py
index 122e144..f1f8a1d 100644
--- a/strata/profile.py
+++ b/strata/profile.py
@@ -1,14 +1,16 @@
 """A named layer of settings on top of another."""
 
+from copy import deepcopy
+
 from .merge import merge
 from .paths import find, place
 
 
 class Profile:
-    def __init__(self, name, settings={}, base=None):
+    def __init__(self, name, settings=None, base=None):
         self.name = name
         self.base = base
-        self.settings = settings
+        self.settings = deepcopy(settings) if settings else {}
 
     def resolve(self):
         """All settings, those of the base included."""
@@ -19,7 +21,7 @@ class Profile:
         return find(self.resolve(), name, fallback)
 
     def set(self, name, value):
-        place(self.settings, name, value)
+        place(self.settings, name, deepcopy(value))
 
     def unset(self, name):
         place(self.settings, name, None)
PATCH
