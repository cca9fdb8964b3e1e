#!/usr/bin/python3
"""Feeds fixed traps and random expressions whose values were computed while they were built."""
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)

TRAPS = {
    "": "error",
    "()": "error",
    "1 2": "error",
    "1 +": "error",
    "* 3": "error",
    "1 / 0": "error",
    "1 % (2 - 2)": "error",
    "2 ** -1": "error",
    "2 ** 1001": "error",
    "2 * * 3": "error",
    "0x10": "error",
    "1e3": "error",
    "1_000": "error",
    "1.5": "error",
    "x": "error",
    "print(1)": "error",
    "__import__('os').getpid()": "error",
    "1; 2": "error",
    "1 # one": "error",
    "(1))": "error",
    "- - -7": "-7",
    "-+-7": "7",
    "-7 / 2": "-4",
    "-7 % 3": "2",
    "7 % -3": "-2",
    "2 ** 3 ** 2": "512",
    "-2 ** 2": "-4",
    "(-2) ** 2": "4",
    "2 ** +3": "8",
    "2 - 3 - 4": "-5",
    "100 / 10 / 5": "2",
    "  42  ": "42",
    "00012": "12",
    "99999999999999999999 * 99999999999999999999": "9999999999999999999800000000000000000001",
}
SUM, PRODUCT, SIGNED, POWER, ATOM = range(5)


def grow(rng, depth):
    """A random expression: text, value (None: error) and how tightly its outermost part binds."""
    if depth == 0 or rng.random() < 0.15:
        number = rng.choice([0, 1, 2, 3, 7, 10, 12, 99, 12345678901234567890])
        return str(number), number, ATOM
    kind = rng.choice(["+", "-", "*", "/", "%", "**", "sign", "()"])
    text, value, binds = grow(rng, depth - 1)
    if kind == "()":
        return f"({text})", value, ATOM
    if kind == "sign":
        if binds < SIGNED:
            text = f"({text})"
        return "-" + rng.choice(["", " "]) + text, None if value is None else -value, SIGNED
    if kind == "**":
        base = text if binds == ATOM else f"({text})"
        exponent = rng.randrange(0, 5)
        small = value is not None and abs(value) < 10**40
        return (f"{base}**{exponent}", value**exponent, POWER) if small else (f"({text})", value, ATOM)
    other, right, other_binds = grow(rng, depth - 1)
    level = SUM if kind in "+-" else PRODUCT
    left = text if binds >= level else f"({text})"
    other = other if other_binds > level else f"({other})"
    space = rng.choice(["", " ", "  "])
    if value is None or right is None or (kind in "/%" and right == 0):
        result = None
    else:
        result = {
            "+": lambda: value + right,
            "-": lambda: value - right,
            "*": lambda: value * right,
            "/": lambda: value // right,
            "%": lambda: value % right,
        }[kind]()
    return f"{left}{space}{kind}{space}{other}", result, level


rng = random.SystemRandom()
cases = list(TRAPS.items())
for _ in range(400):
    text, value, _ = grow(rng, rng.randrange(1, 6))
    cases.append((text, "error" if value is None else str(value)))
score, reason = 0, ""
try:
    done = subprocess.run(
        ["python3", "calc.py"],
        input="".join(text + "\n" for text, _ in cases).encode(),
        capture_output=True,
        timeout=10,
    )
except subprocess.TimeoutExpired:
    reason = "took too long"
else:
    found = done.stdout.decode(errors="replace").splitlines()
    wrong = [case for case, answer in zip(cases, found) if case[1] != answer]
    if len(found) != len(cases):
        reason = f"{len(cases)} lines in, {len(found)} out: {done.stderr[-200:].decode(errors='replace')}"
    elif wrong:
        reason = f"{len(wrong)} of {len(cases)} are wrong, such as {wrong[0][0]!r}"
    else:
        score, reason = 1, f"{len(cases)} lines"
os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
