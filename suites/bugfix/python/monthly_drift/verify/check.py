#!/usr/bin/python3
"""Asks for dates, on the command line and through the library, and compares them with dates worked out here."""
import json
import os
import random
import shutil
import subprocess
import sys
from calendar import monthrange
from datetime import date, timedelta

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()

CHILD = """
import json, sys
sys.path.insert(0, ".")
from datetime import date
from itertools import islice
from remind import Rule
day = lambda text: text and date.fromisoformat(text)
answers = []
for start, unit, every, short, until, asked, end in json.load(sys.stdin):
    try:
        rule = Rule(day(start), unit, every=every, short=short, until=day(until))
        if end == "dates":
            answers.append([str(found) for found in islice(rule.dates(until=day(asked)), 40)])
        else:
            found = rule.next_after(day(asked))
            answers.append(found and str(found))
    except Exception as error:
        answers.append(repr(error))
print(json.dumps(answers))
"""


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def dates(start, unit, every, short):
    turn = 0
    while True:
        count = turn * every
        turn += 1
        if unit in ("daily", "weekly"):
            try:
                yield start + timedelta(days=count * (7 if unit == "weekly" else 1))
            except OverflowError:
                return
            continue
        months = start.month - 1 + count * (12 if unit == "yearly" else 1)
        year, month = start.year + months // 12, months % 12 + 1
        if year > 9999:
            return
        last = monthrange(year, month)[1]
        if start.day <= last or short == "last":
            yield date(year, month, min(start.day, last))


def upto(start, unit, every, short, until, asked):
    found = []
    for day in dates(start, unit, every, short):
        if (until and day > until) or (asked and day > asked) or len(found) == 40:
            break
        found.append(str(day))
    return found


def after(start, unit, every, short, until, asked):
    for day in dates(start, unit, every, short):
        if until and day > until:
            return None
        if day > asked:
            return str(day)
    return None


def case(start, unit, every=1, short="last", until=None, asked=None, end="dates"):
    start, until, asked = (text and date.fromisoformat(text) for text in (start, until, asked))
    work = upto if end == "dates" else after
    words = [str(day) if isinstance(day, date) else day for day in (start, unit, every, short, until, asked, end)]
    return words, work(start, unit, every, short, until, asked)


CASES = [
    case("2024-01-31", "monthly"),
    case("2023-01-30", "monthly"),
    case("2023-01-29", "monthly", asked="2028-12-29"),
    case("2024-02-29", "yearly"),
    case("2024-02-29", "yearly", short="skip"),
    case("1896-02-29", "yearly", short="skip", asked="1910-01-01"),
    case("2024-01-31", "monthly", short="skip"),
    case("2024-08-31", "monthly", every=3, short="skip", until="2027-08-31"),
    case("2024-10-31", "monthly", every=2),
    case("2023-12-31", "monthly", until="2024-12-31"),
    case("2024-04-30", "monthly", asked="2024-06-30"),
    case("2024-01-31", "weekly", short="skip"),
    case("2024-01-31", "daily", every=5, short="skip"),
    case("2024-05-05", "daily", until="2024-05-05"),
    case("9999-10-31", "monthly"),
    case("9990-01-01", "yearly", every=4),
    case("9999-12-30", "daily"),
    case("2024-01-31", "monthly", asked="2024-02-29", end="next"),
    case("2024-01-31", "monthly", asked="2024-02-28", end="next"),
    case("2024-01-31", "monthly", asked="2024-03-02", end="next"),
    case("2024-01-31", "monthly", short="skip", asked="2024-02-03", end="next"),
    case("2024-01-31", "monthly", every=12, short="skip", asked="2024-01-31", end="next"),
    case("2024-02-29", "yearly", short="skip", asked="2025-02-28", end="next"),
    case("2024-01-15", "weekly", every=2, asked="2024-01-20", end="next"),
    case("2024-01-15", "daily", every=10, asked="2024-01-24", end="next"),
    case("2024-01-31", "monthly", until="2024-02-29", asked="2024-02-28", end="next"),
    case("2024-01-31", "monthly", until="2024-02-29", asked="2024-02-29", end="next"),
    case("2024-03-31", "monthly", until="2024-01-31", asked="2023-01-01", end="next"),
    case("9999-11-30", "monthly", asked="9999-12-30", end="next"),
]
for _ in range(120):
    start = date(rng.randrange(1999, 2030), rng.randrange(1, 13), 1) + timedelta(days=rng.randrange(26, 31))
    far = start + timedelta(days=rng.randrange(0, 3000))
    unit, every = rng.choice(["daily", "weekly", "monthly", "monthly", "yearly"]), rng.randrange(1, 8)
    short, end = rng.choice(["last", "skip"]), rng.choice(["dates", "next"])
    until = rng.choice([None, str(start + timedelta(days=rng.randrange(0, 3000)))])
    CASES.append(case(str(start), unit, every, short, until, str(far), end))

try:
    done = subprocess.run(
        ["python3", "-I", "-c", CHILD], cwd="repo", input=json.dumps([words for words, _ in CASES]).encode(),
        capture_output=True, timeout=30,
    )
    found = json.loads(done.stdout)
except subprocess.TimeoutExpired:
    say(0, "took too long")
except (ValueError, RecursionError):
    say(0, f"no answer: {done.stderr[-300:].decode(errors='replace')}")
if not isinstance(found, list) or len(found) != len(CASES):
    say(0, "not every question was answered")
for (words, expected), answer in zip(CASES, found):
    if answer != expected:
        say(0, f"{words}: {json.dumps(answer)[:200]}")

COMMANDS = [
    (["2024-01-31", "monthly", "--count", "4"], ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]),
    (["2024-01-31", "monthly", "--until", "2024-03-31"], ["2024-01-31", "2024-02-29", "2024-03-31"]),
    (["2024-01-31", "monthly", "--after", "2024-02-29", "--count", "2"], ["2024-03-31", "2024-04-30"]),
    (["2024-01-31", "monthly", "--short", "skip", "--count", "3"], ["2024-01-31", "2024-03-31", "2024-05-31"]),
    (["9999-11-01", "monthly"], ["9999-11-01", "9999-12-01"]),
    (["2024-01-01", "daily", "--count", "0"], []),
]
for words, expected in COMMANDS:
    try:
        done = subprocess.run(
            ["python3", "-m", "remind", *words], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=10
        )
    except subprocess.TimeoutExpired:
        say(0, f"{words}: took too long")
    if done.stdout.decode(errors="replace").split() != expected or done.returncode != 0:
        say(0, f"{words}: printed {done.stdout[:200]!r}")
say(1, f"{len(CASES) + len(COMMANDS)} rules")
