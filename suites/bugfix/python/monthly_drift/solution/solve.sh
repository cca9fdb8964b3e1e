cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/remind/rule.py b/remind/rule.py
index 8ad2064..48e8383 100644
--- a/remind/rule.py
+++ b/remind/rule.py
@@ -19,29 +19,41 @@ class Rule:
         self.short = short
         self.until = until
 
-    def _step(self, day):
+    def _date(self, turn):
+        """The date of this turn, counted from the start so that a short month affects no other one."""
+        count = turn * self.every
         if self.unit == "daily":
-            return steps.add_days(day, self.every)
+            return steps.add_days(self.start, count)
         if self.unit == "weekly":
-            return steps.add_days(day, 7 * self.every)
+            return steps.add_days(self.start, 7 * count)
         if self.unit == "monthly":
-            return steps.add_months(day, self.every)
-        return steps.add_years(day, self.every)
+            return steps.add_months(self.start, count)
+        return steps.add_years(self.start, count)
 
     def dates(self, until=None):
         """All dates in order, endless unless the rule or the caller says until when."""
+        return self._from(0, until)
+
+    def _from(self, turn, until=None):
         ends = [end for end in (self.until, until) if end]
-        day = self.start
-        while not ends or day < min(ends):
-            if self.short == "last" or day.day == self.start.day:
+        while True:
+            try:
+                day = self._date(turn)
+            except (OverflowError, ValueError):
+                return
+            if ends and day > min(ends):
+                return
+            if self.short == "last" or day.day == self.start.day or self.unit in ("daily", "weekly"):
                 yield day
-            day = self._step(day)
+            turn += 1
 
     def next_after(self, day):
         """The first date after `day`; None if there is none."""
         if day < self.start:
-            return self.start
-        following = self._step(day)
-        if self.until and following > self.until:
-            return None
-        return following
+            turn = 0
+        elif self.unit in ("daily", "weekly"):
+            turn = (day - self.start).days // (self.every * (7 if self.unit == "weekly" else 1))
+        else:
+            months = (day.year - self.start.year) * 12 + day.month - self.start.month
+            turn = months // (self.every * (12 if self.unit == "yearly" else 1))
+        return next((found for found in self._from(turn) if found > day), None)
PATCH
