#!/usr/bin/python3
"""Runs commands for lists of hosts; compares the output, the logs and the status."""
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
salt = f"{rng.randrange(10**9)}"


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


top = tempfile.mkdtemp()


def run(name, hosts, words, options=()):
    with open(f"{top}/hosts", "wb") as file:
        file.write(hosts.encode())
    try:
        done = subprocess.run(
            ["bash", f"{os.getcwd()}/repo/bin/fleet", *options, f"{top}/hosts", *words],
            cwd=top, input=b"this comes from outside\n", capture_output=True, timeout=20,
        )
    except subprocess.TimeoutExpired:
        say(0, f"{name}: took too long")
    return done.stdout.decode(errors="replace"), done.returncode, done.stderr.decode(errors="replace")


def expect(name, hosts, words, lines, status, options=()):
    found, code, complaint = run(name, hosts, words, options)
    if found != "".join(line + "\n" for line in lines):
        say(0, f"{name}: printed {found[-200:]!r}, {complaint[-120:]}")
    if code != status:
        say(0, f"{name}: status {code} instead of {status}")


THREE = "alpha\nbeta\ngamma\n"
SHOW = ["python3", "-c", "import sys; print(len(sys.argv), *map(repr, sys.argv[1:]))"]
SOME = ["sh", "-c", f'echo {salt}; [ "$1" != beta ] || exit 7', "x", "{}"]


def ok(host, *lines):
    return [f"{host}: {line}" for line in lines] + [f"{host}: ok"]


expect("three hosts", THREE, ["echo", salt, "{}"], ok("alpha", salt + " alpha") + ok("beta", salt + " beta") + ok("gamma", salt + " gamma") + ["3 hosts, 3 ok, 0 failed"], 0)
expect("a command that reads", THREE, ["cat"], ok("alpha") + ok("beta") + ok("gamma") + ["3 hosts, 3 ok, 0 failed"], 0)
expect("one fails", THREE, SOME, ok("alpha", salt) + [f"beta: {salt}", "beta: failed (7)", "2 hosts, 1 ok, 1 failed"], 1)
expect("one fails, keep going", THREE, SOME, ok("alpha", salt) + [f"beta: {salt}", "beta: failed (7)"] + ok("gamma", salt) + ["3 hosts, 2 ok, 1 failed"], 1, ["-k"])
expect("the last one fails", "alpha\nbeta", SOME, ok("alpha", salt) + [f"beta: {salt}", "beta: failed (7)", "2 hosts, 1 ok, 1 failed"], 1, ["-k"])
expect("all fail, keep going", THREE, ["false"], ["alpha: failed (1)", "beta: failed (1)", "gamma: failed (1)", "3 hosts, 0 ok, 3 failed"], 1, ["-k"])
expect("a program that does not exist", "alpha\n", ["sh", "-c", "exec /nonexistent/program 2>/dev/null"], ["alpha: failed (127)", "1 hosts, 0 ok, 1 failed"], 1)
expect("killed by a signal", "alpha\n", ["sh", "-c", "kill -9 $$"], ["alpha: failed (137)", "1 hosts, 0 ok, 1 failed"], 1)
expect("no line end, blanks and comments", "# all\n\n  alpha  \n\tbeta # two\n#gamma\n   \ndelta", ["echo", "{}"], ok("alpha", "alpha") + ok("beta", "beta") + ok("delta", "delta") + ["3 hosts, 3 ok, 0 failed"], 0)
expect("no hosts", "# none\n", ["echo", "{}"], ["0 hosts, 0 ok, 0 failed"], 0)
expect("words stay as they are", "alpha\n", [*SHOW, "two words", "*", "", "$HOME", "a{}b{}", "\\n", "it's \"q\""],
       ok("alpha", "8 'two words' '*' '' '$HOME' 'aalphab" + "alpha' '\\\\n' 'it\\'s \"q\"'") + ["1 hosts, 1 ok, 0 failed"], 0)
expect("hosts with special characters", "user@a/b\nC:\\new\n10.0.0.1&2\nx*\n", [*SHOW, "[{}]"],
       ok("user@a/b", "2 '[user@a/b]'") + ok("C:\\new", "2 '[C:\\\\new]'") + ok("10.0.0.1&2", "2 '[10.0.0.1&2]'") + ok("x*", "2 '[x*]'") + ["4 hosts, 4 ok, 0 failed"], 0)
expect("both streams, odd lines", "alpha\n", ["sh", "-c", "echo a; echo b >&2; echo '  c\\d'; printf 'no end'"], ok("alpha", "a", "b", "  c\\d", "no end") + ["1 hosts, 1 ok, 0 failed"], 0)
expect("options of the command", "alpha\n", ["echo", "-k", "-l", "x"], ok("alpha", "-k -l x") + ["1 hosts, 1 ok, 0 failed"], 0)
many = [f"host{at}" for at in range(60)]
expect("many hosts", "\n".join(many), ["sh", "-c", "cat; echo {}"], [line for host in many for line in ok(host, host)] + ["60 hosts, 60 ok, 0 failed"], 0)

logs = f"{top}/all logs/deep"
expect("logs", THREE, SOME, ok("alpha", salt) + [f"beta: {salt}", "beta: failed (7)"] + ok("gamma", salt) + ["3 hosts, 2 ok, 1 failed"], 1, ["-k", "-l", logs])
expect("logs again", "alpha\n", ["echo", "more"], ok("alpha", "more") + ["1 hosts, 1 ok, 0 failed"], 0, ["-l", logs])
for host, text in (("alpha", f"{salt}\nmore\n"), ("beta", f"{salt}\n"), ("gamma", f"{salt}\n")):
    try:
        with open(f"{logs}/{host}.log") as file:
            kept = file.read(10_000)
    except OSError:
        kept = None
    if kept != text:
        say(0, f"the log of {host}: {kept!r}")

for words in ([], [f"{top}/hosts"], [f"{top}/missing", "true"], ["-x", f"{top}/hosts", "true"]):
    done = subprocess.run(["bash", "repo/bin/fleet", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    if done.returncode != 2 or done.stdout:
        say(0, f"a wrong call, {words}: status {done.returncode}")
for at in range(10):
    hosts = [f"h{rng.randrange(1000)}-{n}" for n in range(rng.randrange(1, 9))]
    codes = {host: rng.choice([0, 0, 1, 3, 255]) for host in hosts}
    script = "case {} in " + " ".join(f"{host}) exit {code};;" for host, code in codes.items()) + " esac"
    keep = rng.random() < 0.5
    lines, tried, bad = [], 0, 0
    for host in hosts:
        tried += 1
        lines.append(f"{host}: ok" if codes[host] == 0 else f"{host}: failed ({codes[host]})")
        bad += codes[host] != 0
        if codes[host] and not keep:
            break
    expect(f"drawn hosts {at}", "\n".join(hosts) + rng.choice(["", "\n"]), ["sh", "-c", f"{script}"], lines + [f"{tried} hosts, {tried - bad} ok, {bad} failed"], 1 if bad else 0, ["-k"] if keep else [])
say(1, "27 lists of hosts")
