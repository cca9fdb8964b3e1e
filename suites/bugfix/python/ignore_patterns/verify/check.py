#!/usr/bin/python3
"""Lists folders by patterns and compares with what git itself ignores; README and .gitignore agree."""
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


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


FILES = """a.txt b.log notes.md Notes.md logs/a.txt logs/b.log logs/old/a.txt logs/old/deep/c.txt src/logs/a.txt
src/main.c src/a/b/c/main.c src/lib/util.c build/out.o build/keep.txt src/build/out.o src/build/x/out.o docs/build
data/[x].csv data/x.csv data/!x.csv data/#x.csv #hash !bang data/a-b.csv data/a/b/c.csv data/b.csv x/y/z/w x/z x/y/z.d/q
tmp/cache/1 tmp/cache/2 tmp/important/1 important/tmp/1 ab abc a.b.c back\\slash end.txt""".split() + ["with space", "src/with space"]

# One set of patterns each.
SETS = [
    ["logs/*.txt"],
    ["*.txt", "!a.txt"],
    ["*.txt", "!a.txt", "a.txt"],
    ["!a.txt", "*.txt"],
    ["build/", "!build/keep.txt"],
    ["build/*", "!build/keep.txt"],
    ["/build"],
    ["build"],
    ["build/"],
    ["src/**/main.c"],
    ["**/logs"],
    ["**/logs/*.txt"],
    ["logs/**"],
    ["logs/**", "!logs/old/", "!logs/old/a.txt"],
    ["/*.md"],
    ["notes.md"],
    ["src/*/util.c"],
    ["src/*"],
    ["src/?ain.c", "src?main.c"],
    ["src[/]main.c", "src[!a]main.c"],
    ["data/[x].csv"],
    ["data/\\[x\\].csv"],
    ["data/[!a-w].csv"],
    ["data/[a-]-b.csv", "data/[]x].csv"],
    ["\\#hash", "\\!bang"],
    ["#hash", "data/#x.csv"],
    ["x/**/z"],
    ["x/y**"],
    ["a**c", "src/**c"],
    ["tmp/*", "!tmp/important/", "important/tmp/"],
    ["*", "!*/", "!*.c"],
    ["*", "!src/", "!src/**/"],
    ["/*", "!/src", "/src/*", "!/src/lib"],
    ["with space", "end.txt   "],
    ["  a.txt"],
    ["back\\\\slash"],
    ["data/[", "data/[x.csv", "*.log"],
    ["abc/", "ab"],
    ["**/build/**", "!**/x/**"],
    ["a.b.c", "a?b?c"],
    [""],
    ["data/**/c.csv"],
    ["*.log", "logs/", "!logs/b.log"],
]
PIECES = ["*", "?", "**", "src", "logs", "a", "b", "*.txt", "*.c", "build", "[a-c]", "x", "z", "data", "old", "deep", "tmp"]
for _ in range(25):
    lines = []
    for _ in range(rng.randrange(1, 5)):
        body = "/".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 4)))
        lines.append(rng.choice(["", "", "!"]) + rng.choice(["", "", "/"]) + body + rng.choice(["", "", "/"]))
    SETS.append(lines)

folder = tempfile.mkdtemp()
for path in FILES:
    os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
    with open(f"{folder}/{path}", "w"):
        pass
environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
judge = tempfile.mkdtemp()
bare = ["git", "--git-dir", judge + "/git", "--work-tree", folder, "-c", "core.ignoreCase=false", "-c", "core.excludesFile=/dev/null"]
subprocess.run(["git", "init", "-q", "--bare", judge + "/git"], env=environment, check=True)
subprocess.run([*bare, "config", "core.bare", "false"], env=environment, check=True)
expected = []
for patterns in SETS:
    with open(f"{folder}/.gitignore", "w") as rules:
        rules.write("\n".join(patterns) + "\n")
    listed = subprocess.run(
        [*bare, "ls-files", "-z", "--others", "--exclude-standard"], cwd=folder, env=environment, capture_output=True, check=True
    )
    expected.append(sorted(path for path in listed.stdout.split(b"\0") if path and path != b".gitignore"))
os.remove(f"{folder}/.gitignore")
shutil.rmtree(judge)
everything = sorted(path.encode() for path in FILES)

for patterns, kept in zip(SETS, expected):
    text = "\n".join(patterns) + "\n"
    with open(f"{folder}/.siftignore", "w") as rules:
        rules.write(text)
    for show, right in (("kept", kept), ("ignored", [path for path in everything if path not in kept])):
        try:
            done = subprocess.run(
                ["python3", "-m", "sift", "--show", show, folder], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=10
            )
        except subprocess.TimeoutExpired:
            say(0, f"{patterns}: took too long")
        found = [line for line in done.stdout.split(b"\n")[:-1] if line != b".siftignore"]
        if found != right:
            odd = sorted(set(found) ^ set(right))
            say(0, f"{patterns}: wrong about {odd[:3]}: {done.stderr[-100:].decode(errors='replace')}")
say(1, f"{len(SETS)} sets of patterns")
