#!/usr/bin/python3
"""Feeds texts to the parser in a child, cut at every place and at random ones; compares with rows made beforehand."""
import base64
import json
import os
import random
import shutil
import subprocess
import sys

nonce = sys.stdin.readline().strip()
shutil.rmtree(os.environ["AGON_VERIFY"], ignore_errors=True)
rng = random.SystemRandom()

CHILD = """
const { CsvParser, CsvError } = require(process.cwd() + "/lib/index.js");
const games = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const { chunks, text, delimiter } of games) {
  const rows = [];
  const when = [];
  let error = null;
  try {
    const parser = new CsvParser({ ...(delimiter ? { delimiter } : {}), onRow: (row) => rows.push(row) });
    for (const chunk of chunks) {
      const bytes = Buffer.from(chunk, "base64");
      parser.write(text ? bytes.toString("utf8") : bytes);
      when.push(rows.length);
    }
    parser.end();
  } catch (caught) {
    error = caught instanceof CsvError ? caught.line : String(caught && caught.stack).slice(0, 200);
  }
  process.stdout.write(JSON.stringify([rows, error, when]) + "\\n");
}
"""


def say(score, reason):
    os.write(3, (json.dumps({"nonce": nonce, "score": score, "reason": reason}) + "\n").encode())
    sys.exit()


# Text, rows, line of the error. Rows before an error come through.
TEXTS = [
    ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]], None),
    ("a,b\rc,d\n\r\n\n\re,f", [["a", "b"], ["c", "d"], ["e", "f"]], None),
    ('"say ""hi""","x"\r\n"""",""""""\n', [['say "hi"', "x"], ['"', '""']], None),
    ('"a\r\nb\rc\nd",e\r\n', [["a\r\nb\rc\nd", "e"]], None),
    ("größe,日本,🦀\nä\n", [["größe", "日本", "🦀"], ["ä"]], None),
    ("\ufeffid,name\n1,é\n", [["id", "name"], ["1", "é"]], None),
    ('\ufeff"id",name\n\ufeff1,2\n', [["id", "name"], ["\ufeff1", "2"]], None),
    ('""\n"",\n,\n""', [[""], ["", ""], ["", ""], [""]], None),
    ('a"b,c""d\n', [['a"b', 'c""d']], None),
    ('"","a"\r\n\r\n""\r\n', [["", "a"], [""]], None),
    ("a\n\n\nb", [["a"], ["b"]], None),
    ("", [], None),
    ("\r\n\r\n", [], None),
    (" a , b \n", [[" a ", " b "]], None),
    ('"a"x,b\n', [], 1),
    ('ok\n"a"\t,b\n', [["ok"]], 2),
    ('one\r\ntwo\r\n"a\r\nb" c\r\n', [["one"], ["two"]], 3),
    ('one\rtwo\r"x\ry\nz', [["one"], ["two"]], 3),
    ('"a\r\nb"\r\n\r\nc,"d', [["a\r\nb"]], 4),
    ('a,"b""', [], 1),
    ('"', [], 1),
]
CELLS = ["", "a", "bc", "ü", "日本", "🦀", 'q"q', '"', '""', "x,y", "l\nl", "c\r\nc", "r\rr", " s ", "\ufeff"]


def drawn():
    rows, text = [], ""
    for _ in range(rng.randrange(1, 8)):
        row = [rng.choice(CELLS) for _ in range(rng.randrange(1, 5))]
        quoted = [rng.random() < 0.4 or any(c in cell for c in '",\r\n') or (cell == "" and len(row) == 1) for cell in row]
        text += ",".join('"' + cell.replace('"', '""') + '"' if quote else cell for cell, quote in zip(row, quoted))
        text += rng.choice(["\n", "\r\n", "\r"])
        rows.append(row)
    if text.startswith("\ufeff"):
        text = "\ufeff" + text
    return text, rows, None


GAMES = []


def game(text, rows, line, cuts, as_text=False, delimiter=None):
    data = text.encode()
    if as_text:
        # Whole characters only, as strings have them.
        cuts = [len(text[:cut].encode()) for cut in cuts]
    edges = [0, *sorted(cuts), len(data)]
    chunks = [base64.b64encode(data[a:b]).decode() for a, b in zip(edges, edges[1:])]
    GAMES.append(({"chunks": chunks, "text": as_text, "delimiter": delimiter}, rows, line, text))


for text, rows, line in TEXTS:
    size = len(text.encode())
    game(text, rows, line, [])
    game(text, rows, line, list(range(size)))
    game(text, rows, line, list(range(len(text))), True)
    for cut in range(size):
        game(text, rows, line, [cut])
for _ in range(150):
    text, rows, line = drawn()
    size = len(text.encode())
    game(text, rows, line, [rng.randrange(size) for _ in range(rng.randrange(6))])
    game(text, rows, line, list(range(size)))
    game(text, rows, line, [rng.randrange(len(text)) for _ in range(3)], True)
game('a;b,c\n";";x', [["a", "b,c"], [";", "x"]], None, [3, 8], delimiter=";")
game("a\tb\n", [["a", "b"]], None, [1, 2], delimiter="\t")

try:
    done = subprocess.run(
        ["node", "-e", CHILD], cwd="repo", input=json.dumps([game for game, *_ in GAMES]).encode(), capture_output=True, timeout=40
    )
except subprocess.TimeoutExpired:
    say(0, "took too long")
except OSError as error:
    say(0, f"node can't be run: {error}")
found = done.stdout.decode(errors="replace").splitlines()
if len(found) != len(GAMES):
    say(0, f"no answer: {done.stderr[-300:].decode(errors='replace')}")
for answer, (game, rows, line, text) in zip(found, GAMES):
    try:
        got, error, _ = json.loads(answer)
    except (ValueError, TypeError, RecursionError):
        say(0, "no answer")
    if got != rows or error != line:
        say(0, f"{text!r} in {len(game['chunks'])} pieces: rows {json.dumps(got)[:200]}, error {str(error)[:100]}")

# A row is told as soon as its line has ended, not with the next piece.
early = {"chunks": [base64.b64encode(piece).decode() for piece in (b"a,b\n", b'"c"\n', b"d")], "text": False, "delimiter": None}
large = "".join(f'{at},"größe ""{at}"" 日本",x\r\n' for at in range(30_000))
try:
    done = subprocess.run(["node", "-e", CHILD], cwd="repo", input=json.dumps([early]).encode(), capture_output=True, timeout=20)
    told = json.loads(done.stdout)[2]
    whole = subprocess.run(["node", "bin/csv2json.js"], cwd="repo", input=large.encode(), capture_output=True, timeout=20)
    broken = subprocess.run(["node", "bin/csv2json.js"], cwd="repo", input=b'a\n"b', capture_output=True, timeout=20)
except subprocess.TimeoutExpired:
    say(0, "took too long")
except (ValueError, TypeError, IndexError, RecursionError):
    say(0, "no answer")
if told != [1, 2, 2]:
    say(0, f"rows are told late: {told}")
if whole.stdout.decode(errors="replace") != "".join(json.dumps([str(at), f'größe "{at}" 日本', "x"], ensure_ascii=False, separators=(",", ":")) + "\n" for at in range(30_000)):
    say(0, "a large file through csv2json is wrong")
if broken.returncode != 1 or broken.stdout != b'["a"]\n' or b"line 2" not in broken.stderr:
    say(0, f"an error through csv2json: status {broken.returncode}")
say(1, f"{len(GAMES) + 3} texts")
