"""A whole agent: it reads messages from standard input, one JSON object per line, and answers each
observation with one action. It can do one thing: "Write TEXT to FILE"."""
import json
import re
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        wanted = re.search(r'[Ww]rite (?:the line )?"?(.+?)"? to (\S+)', message["task"]["instruction"])
    elif message["type"] == "observation":
        if message["kind"] == "ready" and wanted:
            text, path = wanted.groups()
            action = {"action": "write", "path": path, "content": text + "\n"}
        elif wanted:
            action = {"action": "finish", "thought": "It said: " + message["kind"]}
        else:
            action = {"action": "finish", "result": "I can only write files."}
        print(json.dumps(action), flush=True)
