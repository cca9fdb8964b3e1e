#!/usr/bin/python3
"""Builds the program and wraps texts of many alphabets, most of them drawn now; compares every byte."""
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


def expected(text, width, prefix):
    room = max(width - len(prefix), 1)
    paragraphs = [[]]
    for line in text.split("\n"):
        if line.strip():
            paragraphs[-1] += line.split()
        elif paragraphs[-1]:
            paragraphs.append([])
    blocks = []
    for words in filter(None, paragraphs):
        lines, line = [], ""
        for word in words:
            if line and len(line) + 1 + len(word) > room:
                lines.append(line)
                line = ""
            while len(word) > room:
                lines.append(word[:room])
                word = word[room:]
            line += (" " if line else "") + word
        blocks.append("".join(f"{prefix}{line}\n" for line in [*lines, line]))
    return (prefix.rstrip() + "\n").join(blocks)


ALPHABETS = ["abcdefgh", "äöüßéèñçå", "абвгдежзик", "日本語漢字仮名", "🦀🎉🚀🌍", "aé語🦀", "ﬀﬁẞ", "e\u0301o\u0308"]


def text():
    lines = []
    for _ in range(rng.randrange(1, 8)):
        if rng.random() < 0.2:
            lines += [rng.choice(["", "   "])] * rng.randrange(1, 3)
        alphabet = rng.choice(ALPHABETS)
        words = ["".join(rng.choice(alphabet) for _ in range(rng.choice([1, 2, 3, 5, 8, 13, 40]))) for _ in range(rng.randrange(1, 12))]
        lines.append(rng.choice(["", " "]) + rng.choice([" ", "  "]).join(words))
    return "\n".join(lines) + rng.choice(["", "\n", "\n\n\n"])


CASES = [
    ("the issue's text", "Die Gebührenordnung für Ärztinnen und Ärzte wurde überarbeitet.\n", 20, ""),
    ("a long word of accents", "é" * 45, 20, ""),
    ("a word that fits exactly", "éééééééééé übermäßige\n", 10, ""),
    ("one character a line", "äö 語🦀\n", 1, ""),
    ("a prefix of accents", "one two three four five six\n\nseven\n", 12, "» é "),
    ("a prefix that fills the line", "ab c\n", 4, "----"),
    ("a prefix longer than the line", "ab c\n\nd\n", 3, "# note: "),
    ("no text", "", 10, "> "),
    ("only blank lines", "\n \n\n", 10, "> "),
    ("a very long word", "x " + "é" * 21 + " y z\n", 10, ""),
] + [(f"drawn text {at}", text(), rng.choice([1, 2, 7, 10, 20, 40, 72]), rng.choice(["", "", "> ", "é ", "// 語 "])) for at in range(60)]

try:
    built = subprocess.run(["sh", "build.sh"], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=50)
except subprocess.TimeoutExpired:
    say(0, "building took too long")
if built.returncode != 0:
    say(0, f"does not build: {built.stderr[-300:].decode(errors='replace')}")


def run(words, given):
    try:
        return subprocess.run(["repo/build/rewrap", *words], input=given, capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        say(0, f"{words}: took too long")
    except OSError as error:
        say(0, f"build/rewrap can't be run: {error}")


for name, given, width, prefix in CASES:
    done = run(["-w", str(width), "-p", prefix], given.encode())
    if done.returncode != 0 or done.stdout != expected(given, width, prefix).encode():
        complaint = done.stderr[-160:].decode(errors="replace") or f"printed {done.stdout[:120].decode(errors='replace')!r}"
        say(0, f"{name}, width {width}, prefix {prefix!r}: {complaint}")
if run(["-w", "4"], b"a\xffb\xffc d\n").stdout.decode(errors="replace") != "a\ufffdb\ufffd\nc d\n":
    say(0, "input that is not UTF-8")
if run(["-w", "0"], b"a").returncode != 2:
    say(0, "a width of 0 is not refused")
say(1, f"{len(CASES) + 2} texts")
