#!/usr/bin/python3
"""Runs the candidate on ledgers that it has never seen, made at grading time."""
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
# What the candidate's code could read while it runs is gone before it runs.
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)


def say(score, reason):
    record = {"nonce": nonce, "score": score, "reason": reason}
    os.write(3, (json.dumps(record) + "\n").encode())
    sys.exit()


def quoted(field):
    if any(c in field for c in ',"\n'):
        return '"' + field.replace('"', '""') + '"'
    return field


def money(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02}"


def ledger(rng, rows):
    accounts = ["Food, drink", 'O"Neil', "Travel", "two\nlines", "Ärzte", "a,\"b\"", "Zoo", " pad "]
    lines, sums = ["date,account,memo,amount\n"], {}
    for _ in range(rows):
        month = f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02}"
        account, memo = rng.choice(accounts), rng.choice(["x", "a,b", 'say "hi"', "1\n2", ""])
        cents = rng.randrange(-99999, 99999)
        fields = [f"{month}-{rng.randrange(1, 29):02}", account, memo, money(cents)]
        lines.append(",".join(map(quoted, fields)) + "\n")
        count, total = sums.get((month, account), (0, 0))
        sums[month, account] = count + 1, total + cents
    report = ["month,account,count,total\n"]
    for (month, account), (count, total) in sorted(sums.items()):
        report.append(f"{month},{quoted(account)},{count},{money(total)}\n")
    return "".join(lines).encode(), "".join(report).encode()


rng = random.SystemRandom()
for rows in [0, 1, 40, 400]:
    given, expected = ledger(rng, rows)
    try:
        # No descriptor but the three standard ones, no way to the nonce.
        done = subprocess.run(
            ["python3", "report.py"],
            input=given,
            capture_output=True,
            timeout=5,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONUTF8": "1"},
        )
    except subprocess.TimeoutExpired:
        say(0, f"a ledger of {rows} rows took too long")
    if done.returncode != 0:
        say(0, f"a ledger of {rows} rows: {done.stderr[-300:].decode(errors='replace')}")
    if done.stdout != expected:
        say(0, f"a ledger of {rows} rows: the report is wrong")
say(1, "four unseen ledgers")
