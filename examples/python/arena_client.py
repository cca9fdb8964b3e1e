#!/usr/bin/env python3
"""A client for the arena: has tasks evaluated by an agent and an evaluator that are being served.

    python3 arena_client.py --agent-url http://127.0.0.1:8000 --evaluator-url http://127.0.0.1:8001 task.json
"""

import argparse
import json
import sys
import time

from arena_wire import call, read_task

POLL = 0.1
READY_SECONDS = 60  # until the evaluator may be READY
BESIDE_SECONDS = 180  # what set-up and scoring may take beside the play


class Failed(Exception):
    pass


def register(agent_url, evaluator_url):
    for url, path, body, status_path in (
        (agent_url, "/agent/register_evaluator", {"evaluator_url": evaluator_url}, "/agent/status"),
        (evaluator_url, "/evaluator/register_agent", {"agent_url": agent_url}, "/evaluator/status"),
    ):
        status, answer = call("POST", url + path, body)
        # Some servers register once in their life; one that is READY has been registered before.
        if status != 200 and state(url + status_path) != "READY":
            raise Failed(f"{url} refused ({status}): {answer}")


def state(url):
    _, answer = call("GET", url)
    return answer.get("state") if isinstance(answer, dict) else None


def wait_until_ready(agent_url, evaluator_url):
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        # An evaluator may be READY a moment before its agent is.
        if state(evaluator_url + "/evaluator/status") == state(agent_url + "/agent/status") == "READY":
            return
        time.sleep(POLL)
    raise Failed("agent and evaluator do not get READY")


def evaluate(agent_url, evaluator_url, task):
    """Has one task played, and returns its result."""
    wait_until_ready(agent_url, evaluator_url)
    status, answer = call("POST", evaluator_url + "/evaluator/evaluation/start", task, timeout=90)
    if status != 200:
        raise Failed(f"the evaluation was not started ({status}): {answer}")
    deadline = time.monotonic() + task["timeout"] + BESIDE_SECONDS
    while time.monotonic() < deadline:
        status, result = call("GET", evaluator_url + "/evaluator/evaluation/results")
        if status == 200 and result and result["task_id"] == task["task_id"]:
            return result
        time.sleep(POLL)
    raise Failed("no result, long after the time of the task")


def main():
    parser = argparse.ArgumentParser(description="Has tasks evaluated.")
    parser.add_argument("--agent-url", default="http://127.0.0.1:8000")
    parser.add_argument("--evaluator-url", default="http://127.0.0.1:8001")
    parser.add_argument("tasks", nargs="+", metavar="TASK.json", help="one JSON object, or a list of them")
    args = parser.parse_args()
    agent_url, evaluator_url = args.agent_url.rstrip("/"), args.evaluator_url.rstrip("/")
    tasks = []
    for name in args.tasks:
        with open(name, encoding="utf-8") as file:
            content = json.load(file)
        tasks += [read_task(task) for task in (content if isinstance(content, list) else [content])]
    register(agent_url, evaluator_url)
    failures = 0
    for task in tasks:
        try:
            print(json.dumps(evaluate(agent_url, evaluator_url, task)), flush=True)
        except Failed as error:
            failures += 1
            print(f"{task['task_id']}: {error}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, OSError, ValueError) as error:
        sys.exit(str(error))
