#!/usr/bin/python3
"""Builds the program, reads files with lines and names of all lengths, compares with a reader of our own."""
import json
import os
import random
import shutil
import string
import subprocess
import sys
import tempfile

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def word(length):
    return "".join(rng.choice(string.ascii_letters + string.digits) for _ in range(length))


def settings(text):
    found, section = {}, ""
    for line in text.split("\n"):
        line = line.strip(" \t\r")
        if not line or line[0] in ";#":
            continue
        if line[0] == "[" and line[-1] == "]":
            section = line[1:-1].strip(" \t")
            continue
        key, equals, value = line.partition("=")
        if equals:
            value = value.strip(" \t")
            if len(value) >= 2 and value[0] == value[-1] == '"':
                value = value[1:-1]
            found[section, key.strip(" \t")] = value
    return found


def drawn():
    lines = []
    sections = [word(rng.choice([1, 5, 31, 32, 33, 300])) for _ in range(3)]
    keys = [word(rng.choice([1, 8, 31, 32, 33, 200])) for _ in range(12)]
    for _ in range(rng.randrange(1, 120)):
        kind = rng.random()
        if kind < 0.1:
            lines.append(f"[ {rng.choice(sections)} ]")
        elif kind < 0.15:
            lines.append(rng.choice(["; ", "#", ""]) + word(rng.choice([0, 3, 400])))
        else:
            value = word(rng.choice([0, 1, 20, 126, 127, 128, 129, 158, 159, 160, 161, 1000]))
            lines.append(rng.choice(["", "  "]) + rng.choice(keys) + rng.choice(["=", " = "]) + rng.choice([value, f'" {value} "', value + "=" + value]))
    return rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])


FILES = {f"a value of {size} characters": f"[s]\nk = {word(size)}\nz = 1\n" for size in (126, 127, 128, 129, 150, 154, 155, 156, 157, 158, 159, 160, 161, 4095, 4096, 100_000)}
FILES |= {f"a key of {size} characters": f"{word(size)} = v\n[t]\n{word(size)} = w\n" for size in (31, 32, 33, 64, 500)}
FILES |= {f"sections of {size} characters": f"[{word(size)}]\nk = 1\n[{word(size)}]\nk = 2\n[s]\nk = 3\n" for size in (31, 32, 33, 64, 500)}
same = word(40)
FILES |= {
    "names that differ behind their 40th character": f"[{same}a]\n{same}x = 1\n{same}y = 2\n[{same}b]\n{same}x = 3\n",
    "a short section behind a long one": "[a longer name]\nk = 1\n[b]\nk = 2\n",
    "a long comment with an equals sign": "; " + "x" * 157 + " secret = 1\nk = 2\n# " + "y=" * 500 + "\n",
    "a long line without equals sign": "x" * 158 + "\n" + "y" * 400 + "\nk = 1\n",
    "a line of spaces": " " * 500 + "k = 1\n" + " " * 170 + "\nm = 2\n",
    "64 settings": "".join(f"k{at} = {at}\n" for at in range(64)),
    "65 settings": "".join(f"k{at} = {at}\n" for at in range(65)),
    "5,000 settings": "[many]\n" + "".join(f"k{at} = {at}\n" for at in range(5000)) + "k0 = new\n",
    "a shorter value replaces a longer one": f"k = {word(300)}\nk = short\nm = {word(120)}\nm =\n",
    "a longer value replaces a shorter one": f"k = short\nk = {word(300)}\n",
    "no line end": "[s]\nk = " + word(200),
    "nothing": "",
    "long lines of DOS": f"[s]\r\nk = {word(157)}\r\nl = {word(158)}\r\nm = \"{word(300)} \"\r\n",
}
for at in range(25):
    FILES[f"drawn file {at}"] = drawn()

folder = tempfile.mkdtemp()
for at, text in enumerate(FILES.values()):
    with open(f"{folder}/{at}", "w", newline="") as file:
        file.write(text)
try:
    built = subprocess.run(["sh", "build.sh"], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=50)
except subprocess.TimeoutExpired:
    say(0, "building took too long")
if built.returncode != 0:
    say(0, f"does not build: {built.stderr[-300:].decode(errors='replace')}")


def run(*words):
    try:
        done = subprocess.run(["repo/build/ini", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        say(0, f"{words[0]}: took too long")
    except OSError as error:
        say(0, f"build/ini can't be run: {error}")
    return done.returncode, done.stdout.decode(errors="replace")


for at, (name, text) in enumerate(FILES.items()):
    right, path = settings(text), f"{folder}/{at}"
    dumped = "".join(f"{section}\t{key}\t{value}\n" for (section, key), value in right.items())
    status, found = run("dump", path)
    if (status, found) != (0, dumped):
        say(0, f"{name}: dump ends with {status}, {len(found)} characters instead of {len(dumped)}")
    for section, key in rng.sample(list(right), min(2, len(right))):
        if run("get", path, section, key) != (0, right[section, key] + "\n"):
            say(0, f"{name}: get is wrong")
        if run("keys", path, section) != (0, "".join(other + "\n" for place, other in right if place == section)):
            say(0, f"{name}: keys is wrong")
    if run("get", path, "s", "missing " + word(50)) != (1, ""):
        say(0, f"{name}: get finds what is not there")
say(1, f"{len(FILES)} files")
