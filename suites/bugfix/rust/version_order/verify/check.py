#!/usr/bin/python3
"""Builds the program, compares and sorts versions, and checks every answer against an order of our own."""
import functools
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


def key(text):
    body = text.removeprefix("v").partition("+")[0]
    numbers, _, pre = body.partition("-")
    identifiers = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")] if pre else []
    return [int(part) for part in numbers.split(".")], not pre, identifiers


def version():
    number = lambda: rng.choice([0, 0, 1, 2, 9, 10, 11, 99, 4294967295, 4294967296, 2**64, 10**30 + rng.randrange(100)])
    text = rng.choice(["", "", "v"]) + f"{rng.randrange(3)}.{rng.randrange(3)}.{number()}"
    if rng.random() < 0.7:
        parts = ["rc", "alpha", "beta", "1", "2", "9", "10", "11", "x-y", "-", "RC", "a1", "0", "0a", "10000000000000000000000", "9999999999999999999999"]
        text += "-" + ".".join(rng.choice(parts) for _ in range(rng.randrange(1, 4)))
    if rng.random() < 0.3:
        text += "+" + ".".join(rng.choice(["007", "git", "5", "b-1"]) for _ in range(rng.randrange(1, 3)))
    return text


def lists():
    yield [f"1.0.0-rc.{n}" for n in (9, 10, 1, 11, 2)]
    yield ["1.0.0", "1.0.0-rc", "1.0.0-1", "1.0.0-rc.1", "1.0.0-alpha.beta", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.11", "1.0.0-beta.2"]
    yield ["2.0.20240131235959", "2.0.20231231235959", "2.0.9", "2.0.99999999999999999999999999"]
    yield ["1.0.0+b", "1.0.0+a", "v1.0.0", "1.0.0+c", "1.0.0-a+z", "1.0.0-a+b"]
    yield ["1.0.0-a-b.1", "1.0.0--1", "1.0.0-1-1", "1.0.0-+x"][:3]
    yield ["0.0.0"]
    yield []
    pool = [version() for _ in range(40)]
    for _ in range(25):
        yield [rng.choice(pool) if rng.random() < 0.5 else version() for _ in range(rng.randrange(1, 30))]


BAD = ["1.0", "1.0.0.0", "01.0.0", "1.0.0-01", "1.0.0-", "1.0.0+", "1.0.0-a..b", "a.b.c", "1.0.0-é", "1.0.0 beta", "vv1.0.0", "-1.0.0", "1.0.0+a+b"]

try:
    built = subprocess.run(["sh", "build.sh"], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=50)
except subprocess.TimeoutExpired:
    say(0, "building took too long")
if built.returncode != 0:
    say(0, f"does not build: {built.stderr[-300:].decode(errors='replace')}")


def run(words, lines=()):
    try:
        done = subprocess.run(
            ["repo/build/vers", *words], input="".join(line + "\n" for line in lines).encode(), capture_output=True, timeout=10
        )
    except subprocess.TimeoutExpired:
        say(0, f"{words}: took too long")
    except OSError as error:
        say(0, f"build/vers can't be run: {error}")
    return done.returncode, done.stdout.decode(errors="replace").splitlines(), done.stderr.decode(errors="replace")


def expect(words, lines, status, right):
    code, found, complaint = run(words, lines)
    if (code, found) != (status, right):
        say(0, f"{' '.join(words)} of {' '.join(lines)[:150]}: {' '.join(found)[:150]} {complaint[-120:]}")


count = 0
for versions in lists():
    ordered = sorted(versions, key=key)
    expect(["sort"], versions, 0, ordered)
    for words, some in ((["max"], versions), (["max", "--stable"], [text for text in versions if key(text)[1]])):
        highest = max(some, key=key, default=None)
        expect(words, versions, 0 if some else 1, [highest] if some else [])
    first = {}
    for text in versions:
        first.setdefault(json.dumps(key(text)), text)
    expect(["unique"], versions, 0, sorted(first.values(), key=key))
    for a in versions[:4]:
        for b in versions[:4]:
            sign = "<" if key(a) < key(b) else ">" if key(a) > key(b) else "="
            expect(["compare", a, b], [], 0, [sign])
    count += 1
for bad in BAD:
    for words, lines in ((["sort"], ["1.0.0", bad, "2.0.0"]), (["compare", "1.0.0", bad], [])):
        code, found, complaint = run(words, lines)
        if code != 2 or found or bad not in complaint:
            say(0, f"{' '.join(words)} of {bad}: status {code}, {' '.join(found)[:100]}, {complaint[-100:]}")
say(1, f"{count} lists")
