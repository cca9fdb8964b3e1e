#!/usr/bin/python3
"""Plays scenes with a pool in a child, each with a deadline, and compares what the scene tells."""
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()
token = rng.randrange(10**9)

HEAD = """
import asyncio, json, sys
sys.path.insert(0, ".")
from gang import Pool
token = int(sys.argv[1])

async def ok(value, wait=0.001):
    await asyncio.sleep(wait)
    return value + token

async def bad(text="no"):
    await asyncio.sleep(0.001)
    raise ValueError(text)

def told(job):
    return [job.state, job.result() if job.state == "done" else repr(job.error)]

async def ends(awaitable):
    # How an await ends.
    try:
        return await awaitable
    except asyncio.CancelledError:
        return "cancelled"
    except Exception as error:
        return repr(error)

async def scene():
"""
TAIL = """
print(json.dumps(asyncio.run(asyncio.wait_for(scene(), 8))))
"""
done = lambda value: ["done", value + token]
failed = ["failed", "ValueError('no')"]
cancelled = ["cancelled", "None"]

SCENES = {
    "a job fails": (
        """
    async with Pool(1) as pool:
        jobs = [pool.submit(ok, 1), pool.submit(bad), pool.submit(ok, 2), pool.submit(bad), pool.submit(ok, 3)]
        await pool.join()
        return [told(job) for job in jobs]
""",
        [done(1), failed, done(2), failed, done(3)],
    ),
    "every worker meets a failure": (
        """
    async with Pool(3) as pool:
        jobs = [pool.submit(bad) for _ in range(9)] + [pool.submit(ok, n) for n in range(3)]
        await pool.join()
        again = pool.submit(ok, 9)
        await pool.join()
        return [told(job) for job in jobs + [again]]
""",
        [failed] * 9 + [done(0), done(1), done(2), done(9)],
    ),
    "awaiting a failed job raises": (
        """
    async with Pool(2) as pool:
        job = pool.submit(bad, "why")
        return [await ends(job), await ends(job), job.state]
""",
        ["ValueError('why')", "ValueError('why')", "failed"],
    ),
    "a function that is no coroutine function": (
        """
    async with Pool(1) as pool:
        jobs = [pool.submit(len, "abc"), pool.submit(lambda: 1 / 0), pool.submit(ok, 1)]
        await pool.join()
        return [job.state for job in jobs]
""",
        ["failed", "failed", "done"],
    ),
    "a waiting job is cancelled": (
        """
    began = []
    async def note():
        began.append(1)
    async with Pool(1) as pool:
        first = pool.submit(ok, 1, 0.02)
        second, third = pool.submit(note), pool.submit(ok, 3)
        await asyncio.sleep(0.005)
        answers = [second.cancel(), second.cancel(), second.state]
        await pool.join()
        return [answers, began, told(first), told(second), told(third), await ends(second)]
""",
        [[True, False, "cancelled"], [], done(1), cancelled, done(3), "cancelled"],
    ),
    "a running job is cancelled": (
        """
    seen = []
    async def long():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled inside")
            raise
    async with Pool(1) as pool:
        first, second = pool.submit(long), pool.submit(ok, 2)
        await asyncio.sleep(0.005)
        answer = first.cancel()
        await pool.join()
        return [answer, seen, told(first), told(second), first.cancel(), second.cancel(), told(second)]
""",
        [True, ["cancelled inside"], cancelled, done(2), False, False, done(2)],
    ),
    "cancelled jobs take no worker with them": (
        """
    running, most = 0, 0
    async def count():
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(0.003)
        finally:
            running -= 1
    async with Pool(3) as pool:
        for turn in range(4):
            long = [pool.submit(asyncio.sleep, 60) for _ in range(3)]
            await asyncio.sleep(0.002)
            [job.cancel() for job in long]
        await pool.join()
        [pool.submit(count) for _ in range(12)]
        await pool.join()
        return most
""",
        3,
    ),
    "a job that is cancelled from within": (
        """
    async def inner():
        raise asyncio.CancelledError()
    async with Pool(1) as pool:
        jobs = [pool.submit(inner), pool.submit(ok, 1)]
        await pool.join()
        return [told(job) for job in jobs]
""",
        [cancelled, done(1)],
    ),
    "cancelled before anything ran": (
        """
    async with Pool(2) as pool:
        jobs = [pool.submit(ok, n) for n in range(4)]
        answers = [jobs[0].cancel(), jobs[3].cancel()]
        await pool.join()
        return [answers] + [told(job) for job in jobs]
""",
        [[True, True], cancelled, done(1), done(2), cancelled],
    ),
    "jobs submit jobs": (
        """
    made = []
    async with Pool(1) as pool:
        async def more(depth):
            if depth:
                made.append(pool.submit(more, depth - 1))
            raise ValueError("no")
        made.append(pool.submit(more, 3))
        await pool.join()
        return [told(job) for job in made]
""",
        [failed] * 4,
    ),
    "close ends what is left": (
        """
    pool = Pool(2)
    seen = []
    async def long():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.005)
            seen.append("cleaned up")
    jobs = [pool.submit(bad), pool.submit(long), pool.submit(long), pool.submit(ok, 1), pool.submit(bad)]
    waiting = asyncio.ensure_future(pool.join())
    await asyncio.sleep(0.01)
    await pool.close()
    await asyncio.wait_for(waiting, 2)
    await pool.close()
    await pool.join()
    try:
        pool.submit(ok, 1)
    except RuntimeError:
        seen.append("refused")
    return [seen, [job.state for job in jobs], await ends(jobs[3])]
""",
        [["cleaned up", "cleaned up", "refused"], ["failed", "cancelled", "cancelled", "cancelled", "cancelled"], "cancelled"],
    ),
    "the result is asked for too early": (
        """
    async with Pool(1) as pool:
        job = pool.submit(ok, 1)
        try:
            job.result()
        except asyncio.InvalidStateError:
            return [job.state, await job]
""",
        ["waiting", 1 + token],
    ),
    "jobs start in order": (
        """
    order = []
    async def note(n):
        order.append(n)
        await asyncio.sleep(0.001)
        if n % 3 == 0:
            raise ValueError("no")
    async with Pool(2) as pool:
        [pool.submit(note, n) for n in range(12)]
        await pool.join()
    return order
""",
        list(range(12)),
    ),
}


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


for name, (scene, expected) in SCENES.items():
    try:
        child = subprocess.run(
            ["python3", "-I", "-c", HEAD + scene + TAIL, str(token)],
            cwd="repo", stdin=subprocess.DEVNULL, capture_output=True, timeout=12,
        )
    except subprocess.TimeoutExpired:
        say(0, f"{name}: hangs")
    try:
        found = json.loads(child.stdout)
    except (ValueError, RecursionError):
        last = child.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing said"]
        say(0, f"{name}: {last[0][:200]}")
    if found != expected:
        say(0, f"{name}: {json.dumps(found)[:200]}")
say(1, f"{len(SCENES)} scenes")
