#!/usr/bin/python3
"""Adds up invoices, known ones and some drawn now, and compares every cent with exact fractions."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def exact(value):
    return Fraction(str(value).replace(",", ""))


def nearest(value):
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def rate_name(value):
    text = str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def expected(data):
    lines = data["lines"]
    amounts = [nearest(exact(line.get("quantity", 1)) * exact(line["price"]) * 100) for line in lines]
    weights = [max(amount, 0) for amount in amounts]
    whole, discount = sum(weights), 0
    given = data.get("discount") or {}
    if "percent" in given:
        discount = nearest(whole * exact(given["percent"]) / 100)
    elif "amount" in given:
        discount = nearest(exact(given["amount"]) * 100)
    discount = min(discount, whole)
    shares = [discount * weight // whole if whole else 0 for weight in weights]
    order = sorted(range(len(lines)), key=lambda at: (-(discount * weights[at] % whole) if whole else 0, at))
    for at in order[: discount - sum(shares)]:
        shares[at] += 1
    nets = [amount - share for amount, share in zip(amounts, shares)]
    by_rate = {}
    for line, net in zip(lines, nets):
        rate = line.get("tax", 0)
        by_rate.setdefault(rate_name(rate), [exact(rate), 0])[1] += net
    taxes = {name: nearest(net * rate / 100) for name, (rate, net) in by_rate.items()}
    return {
        "lines": [{"amount": a, "share": s, "net": n} for a, s, n in zip(amounts, shares, nets)],
        "discount": discount,
        "taxes": taxes,
        "total": sum(nets) + sum(taxes.values()),
    }


def line(price, quantity=1, tax=0):
    return {"text": "x", "price": price, "quantity": quantity, "tax": tax}


def drawn():
    def decimal(whole, places):
        text = f"{rng.randrange(whole)}.{rng.randrange(10**places):0{places}}"
        return text if rng.random() < 0.5 else float(text)

    lines = []
    for _ in range(rng.randrange(1, 9)):
        quantity = decimal(20, rng.randrange(1, 4))
        if rng.random() < 0.15:
            quantity = -quantity if isinstance(quantity, float) else "-" + quantity
        lines.append(line(decimal(300, rng.randrange(1, 5)), quantity, rng.choice(["19", "7.50", 8.25, "0.125", 0])))
    data = {"lines": lines}
    kind = rng.randrange(3)
    if kind == 1:
        data["discount"] = {"percent": decimal(40, 3)}
    elif kind == 2:
        data["discount"] = {"amount": decimal(100, 2)}
    return data


CASES = [
    ("half a cent of tax", {"lines": [line("10.00", 1, "8.25")]}),
    ("half a cent of a credit", {"lines": [line("10.00", -1, "8.25"), line("100", 1, 0)]}),
    ("a price whose double is below it", {"lines": [line("1.005"), line("2.675"), line("1.115")]}),
    ("the same as JSON numbers", {"lines": [line(1.005), line(2.675), line(1.115), line(0.285, 1.0)]}),
    ("three equal lines share one cent", {"discount": {"amount": "0.01"}, "lines": [line("5"), line("5"), line("5")]}),
    ("three equal lines share ten", {"discount": {"amount": 10}, "lines": [line("50", 1, 19), line("50", 1, 7), line("50", 1, 19)]}),
    ("shares that would add up to more", {"discount": {"amount": "0.03"}, "lines": [line("1"), line("1")]}),
    ("a credit takes no share", {"discount": {"percent": 10}, "lines": [line("33.33", 1, 19), line("5", -2, 19), line("0.05", 1, 7)]}),
    ("all is free", {"discount": {"amount": 3}, "lines": [line("0"), line("0.00", 5)]}),
    ("large sums", {"lines": [line("90,071,992,547,409.93", 1, 19), line("0.01", 3, 19)]}),
    ("rates written in several ways", {"lines": [line("9.99", 1, "7.50"), line("9.99", 1, 7.5), line("9.99", 1, "7.500"), line("3", 1, "10")]}),
] + [(f"drawn invoice {at}", drawn()) for at in range(25)]

folder = tempfile.mkdtemp()
for at, (_, data) in enumerate(CASES):
    with open(f"{folder}/{at}.json", "w") as file:
        json.dump(data, file)

for at, (name, data) in enumerate(CASES):
    try:
        done = subprocess.run(
            ["python3", "-m", "tally", "--json", f"{folder}/{at}.json"],
            cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=10,
        )
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        say(0, f"{name}: took too long")
    except (ValueError, RecursionError):
        say(0, f"{name}: no JSON: {done.stderr[-200:].decode(errors='replace')}")
    if found != expected(data):
        say(0, f"{name}: {json.dumps(found, sort_keys=True)[:300]}")
text = {"currency": "EUR", "lines": [line("-12.34", 1), line("1,234.50", 1)]}
with open(f"{folder}/text.json", "w") as file:
    json.dump(text, file)
done = subprocess.run(
    ["python3", "-m", "tally", f"{folder}/text.json"], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=10
)
words = done.stdout.decode(errors="replace").split()
if "-12.34" not in words or "1,234.50" not in words or "1,222.16" not in words:
    say(0, "the printed invoice is wrong")
say(1, f"{len(CASES) + 1} invoices")
