"""A whole agent for a desktop: it clicks in the middle of the screen, types a line and finishes."""
import base64
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "observation":
        continue
    screen = message["screen"]
    if message["step"] == 1:
        picture = base64.b64decode(screen["picture"]["base64"])  # for the agent's model
        action = {"action": "click", "x": screen["width"] // 2, "y": screen["height"] // 2,
                  "thought": f"I see {len(picture)} bytes of {screen['picture']['format']}."}
    elif message["step"] == 2:
        action = {"action": "type", "text": "hello\n"}
    else:
        action = {"action": "finish", "result": screen.get("window", {}).get("title", "")}
    print(json.dumps(action), flush=True)
