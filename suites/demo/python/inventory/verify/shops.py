#!/usr/bin/python3
"""Runs the candidate on shops that it has never seen; compares output, complaints and status."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)

rng = random.SystemRandom()
a, b = rng.randrange(3, 50), rng.randrange(3, 50)
# Name, movements, expected stock, lines that are refused.
SHOPS = [
    ("nothing", "", "", []),
    ("oldest first", f"in nut {a} 5\nin nut {b} 9\nout nut 3\n", f"nut {a + b - 3} {(a - 3) * 5 + b * 9}\n", []),
    (
        "across lots",
        f"in nut {a} 5\n# a comment\nin nut {b} 9\n\nout nut {a + 1}\n",
        f"nut {b - 1} {(b - 1) * 9}\n",
        [],
    ),
    (
        "two items with equal lots",
        "in nut 1 7\nin bolt 1 7\nin nut 1 7\nin bolt 1 7\nout nut 1\n",
        "bolt 2 14\nnut 1 7\n",
        [],
    ),
    ("lost", f"in nut 4 1\nin nut 2 {b}\ncount nut 2\n", f"nut 2 {2 * b}\n", []),
    ("found", f"in nut {a} 3\ncount nut {a + 6}\n", f"nut {a + 6} {a * 3}\n", []),
    ("found out of nowhere, then sold", "count nut 2\nin nut 1 4\nout nut 2\n", "nut 1 4\n", []),
    (
        "refused",
        "in nut 3 2\nout nut 4\n# between\nout bolt 1\ncount nut -1\n",
        "bolt 0 0\nnut 3 6\n",
        [2, 4, 5],
    ),
    ("refused, then allowed", "in nut -2 5\nin nut 2 5\nout nut 2\n", "nut 0 0\n", [1]),
]


# All of them are written before anything of the candidate's runs and could be in the way.
folder = tempfile.mkdtemp()
for at, (_, movements, _, _) in enumerate(SHOPS):
    with open(f"{folder}/{at}", "w") as shop:
        shop.write(movements)


def wrong(at, stock, refused):
    try:
        # Gets neither descriptor 3 nor our standard input.
        done = subprocess.run(
            ["python3", "inventory.py", f"{folder}/{at}"], stdin=subprocess.DEVNULL, capture_output=True, timeout=5
        )
    except subprocess.TimeoutExpired:
        return "took too long"
    if done.stdout != stock.encode():
        return "wrong output"
    if done.stderr != "".join(f"line {line}: refused\n" for line in refused).encode():
        return "wrong complaints"
    if done.returncode != (1 if refused else 0):
        return "wrong status"
    return None


score, reason = 1, f"{len(SHOPS)} shops"
for at, (name, _, stock, refused) in enumerate(SHOPS):
    if complaint := wrong(at, stock, refused):
        score, reason = 0, f"{name}: {complaint}"
        break
os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
