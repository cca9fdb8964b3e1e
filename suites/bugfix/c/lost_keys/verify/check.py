#!/usr/bin/python3
"""Builds the program and plays long sequences of commands, drawn now, against a dict."""
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def expected(lines):
    table, said = {}, []
    for line in lines:
        command, *rest = line.split()
        if command == "set":
            table[rest[0]] = rest[1]
        elif command == "get":
            said.append(table.get(rest[0], "-"))
        elif command == "del":
            said.append("1" if table.pop(rest[0], None) is not None else "0")
        elif command == "count":
            said.append(str(len(table)))
        elif command == "list":
            said += [f"{key} {table[key]}" for key in sorted(table)] + ["."]
        elif command == "clear":
            table.clear()
    return said


def drawn(keys, length, deletes):
    lines = []
    for turn in range(length):
        key = rng.choice(keys)
        lines.append(f"del {key}" if rng.random() < deletes else rng.choice([f"set {key} {turn}", f"set {key} {turn}", f"get {key}"]))
        if rng.random() < 0.02:
            lines.append(rng.choice(["count", "list"]))
    return lines + [f"get {key}" for key in keys] + ["count", "list"]


def fnv(key):
    total = 2166136261
    for byte in key.encode():
        total = (total ^ byte) * 16777619 % 2**32
    return total


def neighbours(slot, size, count):
    """Keys that all want the same slot of a table of this size."""
    found = []
    while len(found) < count:
        key = f"k{rng.randrange(10**9)}"
        if fnv(key) % size == slot and key not in found:
            found.append(key)
    return found


clash = neighbours(7, 16, 6)
wrap = neighbours(15, 16, 3) + neighbours(14, 16, 3) + neighbours(0, 16, 3)
churn = [f"{rng.choice('abc')}{at}" for at in range(400_000)]
GAMES = {
    "the first of some that clash is removed": [*(f"set {key} v" for key in clash), f"del {clash[0]}", *(f"get {key}" for key in clash), "list"],
    "removed, set again, removed": [
        *(f"set {key} 1" for key in clash), f"del {clash[1]}", f"set {clash[4]} 2", "count", f"del {clash[4]}", f"get {clash[4]}", "list", "count",
    ],
    "around the end of the table": [*(f"set {key} {at}" for at, key in enumerate(wrap)), *(line for key in wrap[::2] for line in (f"del {key}", "list")), *(f"get {key}" for key in wrap)],
    "everything removed": [*(f"set {key} 1" for key in clash), *(f"del {key}" for key in clash), "count", "list", *(f"get {key}" for key in clash)],
    "removed, then grown": [*(f"set {key} 1" for key in clash), f"del {clash[2]}", *(f"set n{at} {at}" for at in range(40)), *(f"get {key}" for key in clash), "list"],
    "clear": [*(f"set {key} 1" for key in clash), f"del {clash[0]}", "clear", "count", f"get {clash[3]}", f"set {clash[3]} 2", "list"],
    # A table whose slots are never given back fills up with removed entries and is searched for ever.
    "many keys that come and go": [line for key in churn for line in (f"set {key} 1", f"del {key}")] + ["count", "list", "get a1"],
    "many keys that come and go beside some that stay": [f"set stays{at} {at}" for at in range(10)]
    + [line for key in churn[:200_000] for line in (f"set {key} 1", f"get {key}", f"del {key}", "get missing")]
    + [f"get stays{at}" for at in range(10)]
    + ["list"],
    "many keys that stay": [f"set {key} {at}" for at, key in enumerate(churn[:100_000])] + [f"del {key}" for key in churn[:100_000:3]] + [f"get {key}" for key in churn[:100_000]] + ["count"],
}
for at in range(10):
    GAMES[f"drawn game {at}, few keys"] = drawn(rng.choice([clash, wrap, clash + wrap]), 400, 0.4)
    GAMES[f"drawn game {at}, many keys"] = drawn([f"key{n}" for n in range(rng.randrange(5, 300))], 2000, rng.choice([0.2, 0.5]))

try:
    built = subprocess.run(["sh", "build.sh"], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
except subprocess.TimeoutExpired:
    say(0, "building took too long")
if built.returncode != 0:
    say(0, f"does not build: {built.stderr[-300:].decode(errors='replace')}")
for name, lines in GAMES.items():
    try:
        done = subprocess.run(["repo/build/kv"], input=("\n".join(lines) + "\n").encode(), capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        say(0, f"{name}: took too long")
    except OSError as error:
        say(0, f"build/kv can't be run: {error}")
    if done.returncode != 0:
        say(0, f"{name}: ended with {done.returncode}")
    if done.stdout.decode(errors="replace").splitlines() != expected(lines):
        say(0, f"{name}: wrong answers")
say(1, f"{len(GAMES)} games")
