#!/usr/bin/python3
"""Rotates folders with names of all sorts; compares what is printed, what is left and the status."""
import json
import os
import random
import re
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


BACKUP = re.compile(r"(.*)-(\d{8})(\.tar(?:\.gz)?)\Z", re.DOTALL | re.ASCII)


def removed(files, keep):
    groups = {}
    for file in files:
        found = BACKUP.match(file)
        if found and not file.startswith("."):
            groups.setdefault(found[1].encode(), []).append((found[2], found[3], file))
    gone = []
    for name in sorted(groups):
        group = sorted(groups[name])
        gone += [file for _, _, file in group[: max(len(group) - keep, 0)]]
    return gone


def of(name, *dates, ending=".tar"):
    return [f"{name}-{date}{ending}" for date in dates]


DAYS = ["20240101", "20240102", "20240215", "20231231"]
SCENES = {
    "plain names": (2, of("web", *DAYS) + of("db", *DAYS[:1]) + ["notes.txt"]),
    "blanks": (1, of("my photos", *DAYS) + of("my", *DAYS[:2]) + of("  two  spaces ", *DAYS[:3])),
    "patterns": (1, of("[ab]", *DAYS) + of("a", *DAYS[:2]) + of("b", *DAYS[:2]) + of("*", *DAYS[:3]) + of("?", *DAYS[:2])),
    "options": (1, of("-rf", *DAYS) + of("--help", *DAYS[:2]) + of("-", *DAYS[:2])),
    "one name begins like another": (2, of("web", *DAYS) + of("web-old", *DAYS[:2]) + of("web-20240101", *DAYS[:1]) + of("webshop", *DAYS[:3])),
    "quotes, dollars and backslashes": (1, of("it's", *DAYS) + of('"q"', *DAYS[:2]) + of("$HOME", *DAYS[:2]) + of("a\\nb", *DAYS[:2]) + of("$(touch owned)", *DAYS[:2]) + of("`id`", *DAYS[:2])),
    "line ends": (1, of("two\nlines", *DAYS) + of("two", *DAYS[:2]) + of("lines", *DAYS[:2])),
    "umlauts": (1, of("müll", *DAYS) + of("mull", *DAYS[:2]) + of("Mull", *DAYS[:2]) + of("zebra", *DAYS[:2])),
    "both endings": (2, of("web", *DAYS[:2]) + of("web", *DAYS[:2], ending=".tar.gz")),
    "keep none": (0, of("web", *DAYS) + of("db", *DAYS[:1])),
    "keep more than there are": (9, of("web", *DAYS)),
    "keep 08": ("08", of("web", *(f"202401{day:02}" for day in range(1, 13)))),
    "no backups": (0, ["notes.txt", "web-2024.tar", "web-20240101.zip", "web-20240101.tar.bak", "web20240101.tar"]),
    "an empty folder": (3, []),
    "no name at all": (0, of("", *DAYS[:2]) + of(".hidden", *DAYS[:2])),
}
PARTS = ["a", "b", " ", "-", "*", "ä", "'", "[x]", "\n", "$x", "\\", "--", ".", "tar", "20240101"]
for at in range(12):
    files = set()
    for _ in range(rng.randrange(1, 5)):
        name = "".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 5))).lstrip(".")
        for _ in range(rng.randrange(1, 6)):
            files.update(of(name, f"2024{rng.randrange(1, 13):02}{rng.randrange(1, 29):02}", ending=rng.choice([".tar", ".tar.gz"])))
    SCENES[f"drawn names {at}"] = (rng.randrange(4), sorted(files))


def play(name, keep, files, folder, dry):
    keep_words = ["-k", str(keep)]
    try:
        done = subprocess.run(
            ["bash", f"{os.getcwd()}/repo/bin/rotate", *(["-n"] if dry else []), *keep_words, folder],
            cwd=top, stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
        )
    except subprocess.TimeoutExpired:
        say(0, f"{name}: took too long")
    gone = removed(files, int(keep))
    word = "would remove" if dry else "removed"
    right = "".join(f"{word} {folder}/{file}\n" for file in gone).encode()
    if done.stdout != right:
        say(0, f"{name}{', dry' if dry else ''}: printed {done.stdout[:150]!r}, {done.stderr[-150:].decode(errors='replace')}")
    left = sorted(os.listdir(os.path.join(top, folder)))
    expected = sorted(set(files) - (set() if dry else set(gone)) | {"folder-20240101.tar", "link-20240101.tar"})
    if left != expected:
        say(0, f"{name}{', dry' if dry else ''}: wrong about {sorted(set(left) ^ set(expected))[:3]}")
    if done.returncode != 0:
        say(0, f"{name}: status {done.returncode}")


top = tempfile.mkdtemp()
for at, (name, (keep, files)) in enumerate(SCENES.items()):
    folder = ["plain{}", "my backups {}", "-old{}", "[x]{}"][at % 4].format(at)
    if at % 3 == 0:
        folder = f"{top}/{folder}"
    place = os.path.join(top, folder)
    os.mkdir(place)
    for file in files:
        with open(os.path.join(place, file), "w"):
            pass
    os.mkdir(os.path.join(place, "folder-20240101.tar"))
    os.symlink("/etc/hostname", os.path.join(place, "link-20240101.tar"))
    if folder.startswith("-"):
        folder = "./" + folder
    play(name, keep, files, folder, True)
    play(name, keep, files, folder, False)
if os.path.exists(f"{top}/owned") or os.path.exists("owned"):
    say(0, "a name was run as a command")

stuck = f"{top}/stuck"
os.mkdir(stuck)
for file in of("web", *DAYS):
    with open(f"{stuck}/{file}", "w"):
        pass
os.chmod(stuck, 0o555)
if os.getuid() != 0:
    done = subprocess.run(["bash", "repo/bin/rotate", "-k", "1", stuck], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    if done.returncode != 1 or done.stdout:
        say(0, f"a folder that can't be written: status {done.returncode}, printed {done.stdout[:100]!r}")
for words in ([], ["-k", "x", stuck], ["-k", "-1", stuck], [stuck, stuck], [f"{top}/missing folder"]):
    done = subprocess.run(["bash", "repo/bin/rotate", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    if done.returncode != 2 or done.stdout:
        say(0, f"a wrong call, {words}: status {done.returncode}")
say(1, f"{len(SCENES)} folders")
