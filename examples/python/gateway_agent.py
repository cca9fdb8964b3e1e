"""A whole agent with a model behind it. It runs without network: the model is asked through Agon's
gateway, which the environment names, with nothing but Python's standard library."""
import json
import os
import sys
import urllib.request


def tool(name, about, **arguments):
    properties = {key: {"type": "string", "description": text} for key, text in arguments.items()}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


TOOLS = [
    tool("run", "Runs a command in a shell.", command="the command line"),
    tool("read", "Reads a file.", path="its path"),
    tool("write", "Writes a file.", path="its path", content="its whole content"),
    tool("finish", "Ends the task.", result="the answer, if the task asks for one"),
]


def ask(messages):
    """One call of the model: OpenAI's chat completions, as any client would make it."""
    body = {"model": os.environ["AGON_MODEL"], "messages": messages, "tools": TOOLS}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
        },
    )
    with urllib.request.urlopen(request, timeout=600) as response:
        return json.load(response)["choices"][0]["message"]


def main():
    if "AGON_MODEL" not in os.environ:
        sys.exit("there is no model: give one to `agon run` with --model, such as --model openai/gpt-4o")
    messages, call = [], None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            task = message["task"]
            allowed = [each for each in TOOLS if each["function"]["name"] in task["actions"]]
            TOOLS[:] = allowed
            messages = [{"role": "user", "content": task["instruction"] + "\nUse the tools. Call finish at the end."}]
        elif message["type"] == "observation":
            if call:
                seen = {key: message[key] for key in ("kind", "text", "exit_status") if key in message}
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(seen)})
            said = ask(messages)
            # One action for one observation: further calls are left out.
            said["tool_calls"] = (said.get("tool_calls") or [])[:1]
            if said["tool_calls"]:
                call = said["tool_calls"][0]
                messages.append(said)
                action = {"action": call["function"]["name"], **json.loads(call["function"]["arguments"])}
            else:
                action = {"action": "finish", "result": said.get("content") or ""}
            print(json.dumps(action), flush=True)


main()
