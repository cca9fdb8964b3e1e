#!/usr/bin/python3
"""Plays random calls, drawn at grading time, against a model; gives a share for each kind of game."""
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)

CHILD = """
import json, sys
sys.path.insert(0, ".")
from cache import Cache
def play(game):
    answers = []
    for name, *args in game["calls"]:
        try:
            if name == "new":
                cache = Cache(*args)
                answers.append(None)
            else:
                answers.append(getattr(cache, name)(*args))
        except ValueError:
            answers.append("ValueError")
        except Exception as error:
            return repr(error)
    return answers
print(json.dumps([play(game) for game in json.load(sys.stdin)]))
"""


class Model:
    """A list, most recently used first."""

    def __init__(self, capacity):
        self.order, self.capacity = [], capacity

    def call(self, name, *args):
        if name == "keys":
            return [key for key, _ in self.order]
        if name == "resize":
            if args[0] < 1:
                return "ValueError"
            self.capacity = args[0]
        if name == "put":
            self.order = [list(args)] + [pair for pair in self.order if pair[0] != args[0]]
        found = next((pair for pair in self.order if pair[0] == args[0]), None)
        if name == "get" and found:
            self.order.remove(found)
            self.order.insert(0, found)
        del self.order[self.capacity :]
        return found[1] if found and name in ("get", "peek") else None


def game(rng, names, length):
    capacity = rng.randrange(1, 6)
    model = Model(capacity)
    calls, answers = [["new", capacity]], [None]
    for _ in range(length):
        name = rng.choice(names)
        args = {"keys": [], "resize": [rng.randrange(0, 6)], "put": [rng.randrange(8), rng.randrange(100)]}
        call = [name, *args.get(name, [rng.randrange(8)])]
        calls.append(call)
        answers.append(model.call(*call))
    return {"calls": calls}, answers


rng = random.SystemRandom()
kinds = {
    "get and put": ["get", "put", "put"],
    "with keys": ["get", "put", "put", "keys"],
    "with peek": ["get", "put", "put", "peek", "peek", "keys"],
    "with resize": ["get", "put", "put", "put", "peek", "keys", "resize"],
}
games = {kind: [game(rng, names, 60) for _ in range(10)] for kind, names in kinds.items()}
refused = [({"calls": [["new", 0]]}, ["ValueError"])]
played = [one for games_of_kind in games.values() for one in games_of_kind] + refused
reason, found = "", []
try:
    done = subprocess.run(
        ["python3", "-I", "-c", CHILD],
        input=json.dumps([calls for calls, _ in played]).encode(),
        capture_output=True,
        timeout=10,
    )
    found = json.loads(done.stdout)
except subprocess.TimeoutExpired:
    reason = "took too long"
except (ValueError, RecursionError):
    reason = "no answer: " + done.stderr[-300:].decode(errors="replace")
if not isinstance(found, list) or len(found) != len(played):
    found = [None] * len(played)
right = [answer == expected for answer, (_, expected) in zip(found, played)]
failed = [kind for at, kind in enumerate(kinds) if not all(right[at * 10 : at * 10 + 10])]
if not right[-1]:
    failed.append("capacity 0")
score = round(1 - len(failed) / (len(kinds) + 1), 3)
reason = reason or ("wrong: " + ", ".join(failed) if failed else f"{len(played)} games")
os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
