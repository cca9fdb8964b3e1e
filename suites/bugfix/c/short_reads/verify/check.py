#!/usr/bin/python3
"""Builds the program and feeds it through pipes, in pieces of all sizes; compares with Python's base64."""
import base64
import json
import os
import random
import select
import shutil
import subprocess
import sys
import time

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def lines(text, columns):
    if not columns or not text:
        return text
    return b"".join(text[at : at + columns] + b"\n" for at in range(0, len(text), columns))


try:
    built = subprocess.run(["sh", "build.sh"], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
except subprocess.TimeoutExpired:
    say(0, "building took too long")
if built.returncode != 0:
    say(0, f"does not build: {built.stderr[-300:].decode(errors='replace')}")


def feed(name, words, pieces, wait):
    """Sends the pieces one by one. With `wait`, each is only sent when what the last one completes has come back."""
    try:
        child = subprocess.Popen(["repo/build/b64", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        say(0, f"build/b64 can't be run: {error}")
    got, deadline = b"", time.monotonic() + 20
    for piece, whole in pieces:
        try:
            child.stdin.write(piece)
            child.stdin.flush()
        except BrokenPipeError:
            break
        while wait and len(got) < whole:
            ready, _, _ = select.select([child.stdout], [], [], min(5, max(0, deadline - time.monotonic())))
            more = os.read(child.stdout.fileno(), 65536) if ready else b""
            if not more:
                child.kill()
                say(0, f"{name}: what was whole is not written before more input comes")
            got += more
    try:
        rest, complaint = child.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        child.kill()
        say(0, f"{name}: took too long")
    return got + rest, child.returncode, complaint


def cut(data, sizes):
    pieces, at = [], 0
    while at < len(data):
        size = rng.choice(sizes)
        pieces.append(data[at : at + size])
        at += size
    return pieces


count = 0
TEXTS = [b"a", b"ab", b"abc", b"abcd", bytes(range(256)), b"\xff" * 100, b"\x80", os.urandom(1000), os.urandom(3071), os.urandom(3072), os.urandom(3073)]
for data in TEXTS + [os.urandom(rng.randrange(1, 300)) for _ in range(20)]:
    for columns in (0, 76, rng.choice([1, 3, 4, 5, 60])):
        right = lines(base64.b64encode(data), columns)
        sent, pieces = 0, []
        for piece in cut(data, rng.choice([[1], [2], [1, 2, 3, 4, 5], [100]])):
            sent += len(piece)
            whole = sent // 3 * 4
            pieces.append((piece, whole + (max(whole - 1, 0) // columns if columns else 0)))
        found = feed("encode", ["-w", str(columns)], pieces, True)
        if found[:2] != (right, 0):
            say(0, f"encoding {len(data)} bytes in pieces of {len(pieces[0][0])} and so on, {columns} columns: {found[0][:60]!r}")
        count += 1
    for columns in (0, 76, 5):
        text = lines(base64.b64encode(data), columns)
        if columns == 5:
            text = text.replace(b"\n", b" \r\n\t")
        sent, pieces = 0, []
        for piece in cut(text, rng.choice([[1], [2], [3], [1, 2, 3, 4, 5], [77]])):
            sent += len(piece.translate(None, b" \r\n\t="))
            pieces.append((piece, min(sent // 4 * 3, len(data))))
        found = feed("decode", ["-d"], pieces, True)
        if found[:2] != (data, 0):
            say(0, f"decoding {len(data)} bytes in pieces of {len(pieces[0][0])} and so on: {found[0][:60]!r}, status {found[1]}")
        count += 1

large = os.urandom(3_000_000)
encoded = lines(base64.b64encode(large), 76)
for words, given, right in (([], large, encoded), (["-d"], encoded, large)):
    try:
        done = subprocess.run(["repo/build/b64", *words], input=given, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        say(0, "a large file takes too long")
    if (done.stdout, done.returncode) != (right, 0):
        say(0, f"a large file is wrong, {words}")
for words in ([], ["-d"], ["-w", "0"]):
    if feed("nothing", words, [], False)[:2] != (b"", 0):
        say(0, f"no input, {words}")

# Text, and what is written before the mistake.
BAD = [
    (b"YWJjZ", b"abc"), (b"YWJjZG", b"abc"), (b"YWJjZGU", b"abc"), (b"Y", b""), (b"YWJj!GVm", b"abc"), (b"YW=j", b""), (b"YQ==YQ==", b"a"),
    (b"YQ==\nx", b"a"), (b"====", b""), (b"Y===", b""), (b"YWJj\xc3\xa4aa", b"abc"), (b"YWJj\xff\xff\xff\xff", b"abc"), (b"YWJj\0", b"abc"), (b"YQ=", b""), (b"=YWJ", b""),
]
for text, written in BAD:
    for sizes in ([1], [2, 3], [100]):
        found = feed("no base64", ["-d"], [(piece, 0) for piece in cut(text, sizes)], False)
        if found[:2] != (written, 1) or not found[2]:
            say(0, f"decoding {text!r}: {found[0]!r}, status {found[1]}, message {found[2][:80]!r}")
say(1, f"{count + len(BAD) + 5} streams")
