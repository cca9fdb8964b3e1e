#!/usr/bin/python3
"""Plays calls on profiles in a child and compares what they show with a model of our own."""
import json
import os
import random
import shutil
import subprocess
import sys
from copy import deepcopy

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()

CHILD = """
import json, sys
sys.path.insert(0, ".")
from strata import Profile, load
for line in sys.stdin:
    world, answers = {}, []
    shared = None
    for name, who, *args in json.loads(line):
        answer = None
        if name == "new":
            settings, base = args
            made = [settings] if settings is not None else []
            world[who] = Profile(who, *made, base=world.get(base))
        elif name == "share":
            shared = args[0]
        elif name == "new shared":
            world[who] = Profile(who, shared, base=world.get(args[0]))
        elif name == "spoil shared":
            exec(args[0], {"it": shared})
        elif name == "shared":
            answer = shared
        elif name == "load":
            world.update(load(args[0]))
        elif name == "set shared":
            world[who].set(args[0], shared)
        elif name == "spoil resolve":
            exec(args[0], {"it": world[who].resolve()})
        elif name == "spoil get":
            exec(args[1], {"it": world[who].get(args[0])})
        else:
            answer = getattr(world[who], name)(*args)
        answers.append(json.loads(json.dumps(answer)))
    print(json.dumps(answers), flush=True)
"""


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def merge(lower, upper):
    merged = deepcopy(lower)
    for key, value in upper.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = merge(merged[key] if isinstance(merged.get(key), dict) else {}, value)
        else:
            merged[key] = deepcopy(value)
    return merged


class Model:
    """Layers that never share anything."""

    def __init__(self):
        self.layers, self.bases = {}, {}

    def new(self, who, settings, base):
        self.layers[who], self.bases[who] = deepcopy(settings or {}), base

    def resolve(self, who):
        below = self.resolve(self.bases[who]) if self.bases[who] else {}
        return merge(below, self.layers[who])

    def get(self, who, name, fallback=None):
        tree = self.resolve(who)
        for part in name.split("."):
            if not isinstance(tree, dict) or part not in tree:
                return fallback
            tree = tree[part]
        return tree

    def set(self, who, name, value):
        tree = self.layers[who]
        *way, last = name.split(".")
        for part in way:
            if not isinstance(tree.get(part), dict):
                tree[part] = {}
            tree = tree[part]
        tree[last] = deepcopy(value)

    def unset(self, who, name):
        self.set(who, name, None)

    def append(self, who, name, value):
        items = self.get(who, name)
        self.set(who, name, (items if isinstance(items, list) else []) + [value])


def played(calls):
    model, answers = Model(), []
    for name, who, *args in calls:
        answers.append(getattr(model, name)(who, *args))
    return calls, answers


NAMES = ["a", "b", "a.x", "a.y", "b.x", "a.x.deep", "list", "a.list"]


def tree(depth=0):
    made = {}
    for key in rng.sample(["a", "b", "x", "y", "deep", "list"], rng.randrange(1, 4)):
        kind = rng.randrange(4)
        if key == "list":
            made[key] = [rng.randrange(9) for _ in range(rng.randrange(3))]
        elif kind < 2 and depth < 3:
            made[key] = tree(depth + 1)
        elif kind == 2 and depth > 0:
            made[key] = [rng.randrange(100)]
        else:
            made[key] = rng.randrange(100)
    return made


def drawn():
    calls = [["new", "root", tree(), None], ["new", "left", tree(), "root"], ["new", "right", None, "root"], ["new", "top", tree(), "left"]]
    people = ["root", "left", "right", "top"]
    for _ in range(40):
        who, name = rng.choice(people), rng.choice(NAMES)
        kind = rng.randrange(6)
        if kind == 0:
            calls.append(["set", who, name, rng.choice([rng.randrange(100), tree(2), [1]])])
        elif kind == 1:
            calls.append(["append", who, name, rng.randrange(100)])
        elif kind == 2:
            calls.append(["unset", who, name])
        else:
            calls.append(["get", who, name, "none"] if kind == 3 else ["resolve", rng.choice(people)])
    return played(calls + [["resolve", who] for who in people])


BASE = {"db": {"host": "localhost", "pool": {"size": 5}}, "features": ["login"], "hosts": [{"name": "a"}]}
FILE = json.dumps({"common": BASE, "staging": {"base": "common"}, "live": {"base": "common", "settings": {"db": {"host": "live"}}}})


def with_base(**changes):
    made = deepcopy(BASE)
    made.update(changes)
    return made


GAMES = {
    "set in one profile shows in its sister": (
        [["new", "c", BASE, None], ["new", "s", {}, "c"], ["new", "l", {}, "c"], ["set", "s", "db.pool.size", 9], ["resolve", "c"], ["resolve", "l"], ["get", "s", "db.pool.size"]],
        [None, None, None, None, BASE, BASE, 9],
    ),
    "append changes the base": (
        [["new", "c", BASE, None], ["new", "s", {"db": {"host": "s"}}, "c"], ["append", "s", "features", "beta"], ["append", "s", "features", "gamma"], ["get", "c", "features"], ["get", "s", "features"]],
        [None, None, None, None, ["login"], ["login", "beta", "gamma"]],
    ),
    "profiles without settings share them": (
        [["new", "a", None, None], ["new", "b", None, None], ["set", "a", "x", 1], ["resolve", "b"]],
        [None, None, None, {}],
    ),
    "profiles from the same dict": (
        [["share", "", BASE], ["new shared", "a", None], ["new shared", "b", None], ["set", "a", "db.host", "x"], ["append", "a", "features", "y"], ["resolve", "b"], ["shared", ""]],
        [None, None, None, None, None, BASE, BASE],
    ),
    "the caller's dict changes later": (
        [["share", "", BASE], ["new shared", "a", None], ["spoil shared", "", "it['db']['pool']['size'] = 0; it['features'].append(1)"], ["resolve", "a"]],
        [None, None, None, BASE],
    ),
    "a value that was set changes later": (
        [["share", "", {"k": [1]}], ["new", "a", {}, None], ["set shared", "a", "v"], ["spoil shared", "", "it['k'].append(2); it['z'] = 1"], ["get", "a", "v"], ["set", "a", "v.k", 7], ["shared", ""]],
        [None, None, None, None, {"k": [1]}, None, {"k": [1, 2], "z": 1}],
    ),
    "changing what resolve gave": (
        [["new", "c", BASE, None], ["new", "s", {"own": {"l": [1]}}, "c"], ["spoil resolve", "s", "it['db']['host'] = 1; it['features'].clear(); it['own']['l'].append(2); it['hosts'][0]['name'] = 'z'"], ["resolve", "c"], ["resolve", "s"]],
        [None, None, None, BASE, with_base(own={"l": [1]})],
    ),
    "changing what get gave": (
        [["new", "c", BASE, None], ["new", "s", {}, "c"], ["spoil get", "s", "db.pool", "it['size'] = 1"], ["spoil get", "c", "hosts", "it[0].clear()"], ["resolve", "c"]],
        [None, None, None, None, BASE],
    ),
    "loaded from a file": (
        [["load", "", FILE], ["set", "staging", "db.pool.size", 50], ["unset", "live", "features"], ["get", "common", "db.pool.size"], ["get", "live", "db.pool.size"], ["get", "live", "features", "gone"], ["get", "staging", "features"]],
        [None, None, None, 5, 5, "gone", ["login"]],
    ),
    "unset hides what the base has": (
        [["new", "c", BASE, None], ["new", "s", {}, "c"], ["unset", "s", "db.pool"], ["resolve", "s"], ["resolve", "c"]],
        [None, None, None, with_base(db={"host": "localhost"}), BASE],
    ),
    "unset where there is nothing": (
        [["new", "c", {}, None], ["unset", "c", "db.pool"], ["get", "c", "db.pool", "gone"], ["resolve", "c"]],
        [None, None, "gone", {"db": {}}],
    ),
    "later changes of the base are still seen": (
        [["new", "c", BASE, None], ["new", "s", {"db": {"host": "s"}}, "c"], ["resolve", "s"], ["set", "c", "db.pool.size", 8], ["append", "c", "features", "new"], ["get", "s", "db.pool.size"], ["get", "s", "features"]],
        [None, None, with_base(db={"host": "s", "pool": {"size": 5}}), None, None, 8, ["login", "new"]],
    ),
}
for at in range(30):
    GAMES[f"drawn game {at}"] = drawn()

lines = "".join(json.dumps(calls) + "\n" for calls, _ in GAMES.values())
try:
    done = subprocess.run(["python3", "-I", "-c", CHILD], cwd="repo", input=lines.encode(), capture_output=True, timeout=30)
except subprocess.TimeoutExpired:
    say(0, "took too long")
found = done.stdout.decode(errors="replace").splitlines()
for at, (name, (calls, expected)) in enumerate(GAMES.items()):
    try:
        answers = json.loads(found[at]) if at < len(found) else None
    except (ValueError, RecursionError):
        answers = None
    if answers is None:
        say(0, f"{name}: no answer: {done.stderr[-300:].decode(errors='replace')}")
    if answers != expected:
        wrong = next((n for n, pair in enumerate(zip(answers, expected)) if pair[0] != pair[1]), 0)
        say(0, f"{name}: call {wrong + 1}, {json.dumps(calls[wrong])[:120]}")
say(1, f"{len(GAMES)} games")
