cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/tally/invoice.py b/tally/invoice.py
index a6ffb3b..7b33d16 100644
--- a/tally/invoice.py
+++ b/tally/invoice.py
@@ -1,6 +1,7 @@
 """The rules by which an invoice is added up; the README explains them."""
 
 from dataclasses import dataclass, field
+from fractions import Fraction
 
 from . import money
 
@@ -49,12 +50,13 @@ class Invoice:
 
 def rate_name(value):
     """One name for `7.5`, `"7.50"` and `"7.500"`."""
-    return f"{money.number(value):g}"
+    text = f"{money.number(value):f}"
+    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text
 
 
 def add_up(invoice):
     for line in invoice.lines:
-        line.amount = money.to_cents(line.quantity * line.price)
+        line.amount = money.to_cents(Fraction(line.quantity) * Fraction(line.price))
     weights = [max(line.amount, 0) for line in invoice.lines]
     if invoice.discount_percent is not None:
         invoice.discount = money.percent_of(sum(weights), invoice.discount_percent)
diff --git a/tally/money.py b/tally/money.py
index cb1ab3d..3ce3f2e 100644
--- a/tally/money.py
+++ b/tally/money.py
@@ -1,31 +1,49 @@
 """Amounts of money. Everything that leaves this module is whole cents."""
 
+from decimal import Decimal
+from fractions import Fraction
+
 
 def number(value):
     """A quantity, price or percentage as it stands in the file."""
     if isinstance(value, str):
         value = value.replace(",", "")
-    return float(value)
+    # A float's shortest text is what was written in the file, unlike its binary value.
+    return Decimal(str(value))
+
+
+def nearest(amount):
+    """The nearest whole number; halves go away from zero."""
+    amount = Fraction(amount)
+    whole = int(abs(amount) + Fraction(1, 2))
+    return whole if amount >= 0 else -whole
 
 
 def to_cents(amount):
     """An amount in the currency's unit, rounded to cents."""
-    return round(amount * 100)
+    return nearest(Fraction(amount) * 100)
 
 
 def percent_of(cents, percent):
     """So many percent of an amount in cents, rounded to cents."""
-    return round(cents * percent / 100)
+    return nearest(cents * Fraction(percent) / 100)
 
 
 def spread(total, weights):
-    """Splits `total` cents in proportion to `weights`."""
+    """Splits `total` cents in proportion to `weights`, by largest remainders."""
     whole = sum(weights)
     if whole == 0:
         return [0 for _ in weights]
-    return [round(total * weight / whole) for weight in weights]
+    shares = [total * weight // whole for weight in weights]
+    left = total - sum(shares)
+    # Sorting is stable, so of equal remainders the earlier comes first.
+    order = sorted(range(len(weights)), key=lambda at: -(total * weights[at] % whole))
+    for at in order[:left]:
+        shares[at] += 1
+    return shares
 
 
 def show(cents):
     """Cents as people write them: 123456 is 1,234.56."""
-    return f"{cents / 100:,.2f}"
+    sign = "-" if cents < 0 else ""
+    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"
PATCH
