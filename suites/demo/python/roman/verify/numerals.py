#!/usr/bin/python3
"""Compares every numeral; the candidate's code runs in a child that only ever sees numbers."""
import json
import os
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)

CHILD = """
import json, sys
sys.path.insert(0, ".")
from roman import to_roman
def answer(number):
    try:
        return to_roman(number)
    except ValueError:
        return None
print(json.dumps([answer(number) for number in json.load(sys.stdin)]))
"""


def numeral(number):
    digits = ["", "1", "11", "111", "15", "5", "51", "511", "5111", "1x"]
    text = ""
    for power, (one, five, ten) in enumerate([("I", "V", "X"), ("X", "L", "C"), ("C", "D", "M"), ("M", "", "")]):
        digit = digits[number // 10**power % 10]
        text = digit.replace("1", one).replace("5", five).replace("x", ten) + text
    return text


numbers = [-1, 0, 4000, 5000, *range(1, 4000)]
expected = [numeral(number) if 0 < number < 4000 else None for number in numbers]
score, reason = 0, ""
try:
    done = subprocess.run(
        ["python3", "-I", "-c", CHILD], input=json.dumps(numbers).encode(), capture_output=True, timeout=10
    )
    found = json.loads(done.stdout)
except subprocess.TimeoutExpired:
    reason = "took too long"
except (ValueError, RecursionError):
    reason = "no answer: " + done.stderr[-300:].decode(errors="replace")
else:
    if found == expected:
        score, reason = 1, f"{len(numbers)} numbers"
    elif isinstance(found, list):
        wrong = [n for n, a, b in zip(numbers, found, expected) if a != b]
        reason = f"{len(wrong)} of {len(numbers)} are wrong, such as {wrong[:3]}"
os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
