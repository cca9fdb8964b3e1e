#!/usr/bin/python3
"""Plays scenes with remembered functions in a child and compares what each of them tells."""
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()
token = rng.randrange(1, 10**6)

HEAD = """
const remember = require(process.cwd() + "/lib/index.js");
const token = Number(process.argv[1]);
const tick = () => new Promise((resolve) => setImmediate(resolve));
// A promise that is settled by hand.
function later() {
  let settle;
  const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...settle };
}
const ends = (promise) => Promise.resolve(promise).then((value) => ["value", value], (error) => ["error", error.message]);
process.on("unhandledRejection", (error) => {
  console.log(JSON.stringify("unhandled: " + error.message));
  process.exit();
});
async function scene() {
"""
TAIL = """
}
scene().then(async (told) => { await tick(); await tick(); console.log(JSON.stringify(told)); process.exit(); },
             (error) => { console.log(JSON.stringify(String(error.stack).slice(0, 300))); process.exit(); });
"""
SCENES = {
    "a rejected promise is forgotten": (
        """
  let calls = 0;
  const f = remember(async () => { if (++calls < 3) throw new Error("down " + calls); return token; });
  return [await ends(f()), f.size, await ends(f()), await ends(f()), await ends(f()), calls, f.size];
""",
        [["error", "down 1"], 0, ["error", "down 2"], ["value", token], ["value", token], 3, 1],
    ),
    "a rejection that nobody but the caller sees": (
        """
  const f = remember(() => Promise.reject(new Error("no")));
  const told = [await ends(f(1)), await ends(f(2))];
  await tick();
  return told;
""",
        [["error", "no"], ["error", "no"]],
    ),
    "what is thrown is not remembered": (
        """
  let calls = 0;
  const f = remember(() => { if (++calls === 1) throw new Error("no"); return token; });
  let first;
  try { f(); } catch (error) { first = error.message; }
  return [first, f.size, f(), f(), calls];
""",
        ["no", 0, token, token, 2],
    ),
    "one call while it is pending": (
        """
  const wait = later();
  let calls = 0;
  const f = remember(() => (calls++, wait.promise));
  const [a, b] = [f(), f()];
  wait.resolve(token);
  return [a === b, await a, await b, (await f()) === token, calls];
""",
        [True, token, token, True, 1],
    ),
    "undefined, null, 0 and false are values": (
        """
  let calls = 0;
  const f = remember((value) => (calls++, value));
  for (const value of [undefined, null, 0, false, "", NaN]) { f(value); f(value); f(value); }
  const g = remember(async () => void calls++);
  await g(); await g();
  return [calls, f.size, g.size];
""",
        [7, 6, 1],
    ),
    "which arguments are the same": (
        """
  let calls = 0;
  const f = remember(() => ++calls);
  const object = {}, list = [], sign = Symbol("s"), other = () => 1;
  const told = [f(1), f("1"), f(), f(undefined), f(null), f(undefined, undefined), f(object), f({}), f(list), f([]), f(NaN), f(NaN), f(0), f(-0),
    f(sign), f(Symbol("s")), f(sign), f(object), f(list), f(other), f(other), f(1, 2), f([1, 2]), f(1, 2), f(2, 1), f(10n), f(10), f(new Map([[1, 2]])), f(new Map()), f()];
  const circle = {}; circle.self = circle;
  return [told, f(circle) === f(circle), f.forget(circle), f.forget({}), f.forget(0), f.forget(0), f.forget(-0)];
""",
        [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 13, 14, 15, 14, 7, 9, 16, 16, 17, 18, 17, 19, 20, 21, 22, 23, 3], True, True, False, True, False, True],
    ),
    "a key of one's own": (
        """
  let calls = 0;
  const f = remember((user) => ++calls, { key: (user) => user.id });
  const told = [f({ id: 1 }), f({ id: 1, x: 2 }), f({ id: "1" }), f({}), f({}), f.forget({ id: 1 }), f({ id: 1 })];
  const g = remember((a, b) => ++calls, { key: (a, b) => b });
  return [...told, g(1, 2), g(3, 2), g(2, 3)];
""",
        [1, 1, 2, 3, 3, True, 4, 5, 5, 6],
    ),
    "this is passed on": (
        """
  const object = { base: token, add: remember(function (n) { return this.base + n; }) };
  return [object.add(1), object.add(1)];
""",
        [token + 1, token + 1],
    ),
    "using keeps a value": (
        """
  const made = [];
  const f = remember((n) => (made.push(n), n), { max: 2 });
  f(1); f(2); f(1); f(3); f(1); f(2); f(3);
  return [made, f.size];
""",
        [[1, 2, 3, 2, 3], 2],
    ),
    "a promise that is fulfilled is not used by that": (
        """
  const waits = { 1: later(), 2: later(), 3: later(), 4: later() };
  const made = [];
  const f = remember((n) => (made.push(n), waits[n].promise), { max: 2 });
  f(1); f(2);
  waits[1].resolve(1);
  await tick();
  f(3);
  f(2);
  return [made, f.size];
""",
        [[1, 2, 3], 2],
    ),
    "a late promise that was pushed out stays out": (
        """
  const waits = { 1: later(), 2: later(), 3: later() };
  const made = [];
  const f = remember((n) => (made.push(n), waits[n].promise), { max: 2 });
  const first = f(1); f(2); f(3);
  waits[1].resolve(token);
  const value = await first;
  await tick();
  return [value, f.size, f.forget(1), f.forget(2), f.forget(3)];
""",
        [token, 2, False, True, True],
    ),
    "cleared while it was pending": (
        """
  const waits = [later(), later()];
  let calls = 0;
  const f = remember(() => waits[calls++].promise);
  const first = f();
  f.clear();
  const sizes = [f.size];
  waits[0].resolve("old");
  const got = await first;
  await tick();
  sizes.push(f.size);
  const second = f();
  waits[1].resolve("new");
  return [got, sizes, await second, await f(), calls];
""",
        ["old", [0, 0], "new", "new", 2],
    ),
    "an old promise comes in after its follower": (
        """
  const waits = [later(), later()];
  let calls = 0;
  const f = remember(() => waits[calls++].promise);
  const first = f();
  f.forget();
  const second = f();
  waits[1].resolve("new");
  await second;
  waits[0].resolve("old");
  await first;
  await tick();
  return [await f(), calls];
""",
        ["new", 2],
    ),
    "an old promise fails after its follower": (
        """
  const waits = [later(), later(), later()];
  let calls = 0;
  const f = remember(() => waits[calls++].promise);
  const first = ends(f());
  f.forget();
  const second = f();
  waits[0].reject(new Error("old"));
  const got = await first;
  await tick();
  const same = f() === second;
  waits[1].resolve("new");
  return [got, same, await f(), calls, f.size];
""",
        [["error", "old"], True, "new", 2, 1],
    ),
    "time counts from when the value is there": (
        """
  let time = 0, calls = 0;
  const waits = [later(), later()];
  const f = remember(() => waits[calls++].promise, { ttl: 10, now: () => time });
  const first = f();
  time = 50;
  const same = f() === first;
  waits[0].resolve("a");
  await first;
  await tick();
  time = 60;
  const still = await f();
  time = 61;
  f();
  return [same, still, calls];
""",
        [True, "a", 2],
    ),
    "using does not make younger": (
        """
  let time = 0, calls = 0;
  const f = remember(() => ++calls, { ttl: 10, now: () => time });
  const told = [f()];
  for (time of [4, 8, 10, 11, 15, 21, 22]) told.push(f());
  return told;
""",
        [1, 1, 1, 1, 2, 2, 2, 3],
    ),
    "the same promise each time": (
        """
  const f = remember(async () => token);
  const first = f();
  await first; await tick();
  return [f() === first, await f()];
""",
        [True, token],
    ),
}


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


def run(name, code, *words):
    try:
        done = subprocess.run(
            ["node", "-e", code, *map(str, words)], cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=15
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        say(0, f"{name}: took too long")
    except OSError as error:
        say(0, f"node can't be run: {error}")
    except (ValueError, RecursionError):
        say(0, f"{name}: {done.stderr[-200:].decode(errors='replace') or 'nothing said'}")


for name, (scene, expected) in SCENES.items():
    found = run(name, HEAD + scene + TAIL, token)
    if found != expected:
        say(0, f"{name}: {json.dumps(found)[:250]}")

# Long random plays with `max` and a clock, against a model.
calls, told, order, time, made = [], [], {}, 0, 0
limit, ttl = rng.randrange(2, 6), rng.randrange(5, 30)
for _ in range(600):
    time += rng.randrange(4)
    kind, n = rng.choice(["call", "call", "call", "forget"]), rng.randrange(8)
    calls.append([kind, n, time])
    fresh = n in order and time - order[n][1] <= ttl
    if kind == "forget":
        told.append(fresh)
        order.pop(n, None)
        continue
    if not fresh:
        made += 1
        order.pop(n, None)
        order[n] = (made, time)
        if len(order) > limit:
            order.pop(next(iter(order)))
    else:
        order[n] = order.pop(n)
    told.append(order[n][0])
PLAY = HEAD + """
  const [calls, max, ttl] = JSON.parse(process.argv[2]);
  let time = 0, made = 0;
  const f = remember(() => ++made, { max, ttl, now: () => time });
  return calls.map(([kind, n, at]) => { time = at; return kind === "call" ? f(n) : f.forget(n); });
""" + TAIL
if run("a long play", PLAY, token, json.dumps([calls, limit, ttl])) != told:
    say(0, f"a long play with max {limit} and ttl {ttl} is wrong")
say(1, f"{len(SCENES) + 1} scenes")
