#!/usr/bin/env python3
"""An agent for the arena: a template. Change `play_env`, keep the rest.

    python3 arena_agent.py --desktop d1 --port 8000
    agon arena evaluator --desktop d1 --evaluator timer --port 8001
    agon arena client --agent-url http://127.0.0.1:8000 --evaluator-url http://127.0.0.1:8001 task.json
"""

import argparse
import subprocess
import threading
import traceback

from arena_wire import call, listen, ok, read_task, refused, serve

STOP_SECONDS = 2.0  # what a step may still take when the agent is told to stop
STEP_PAUSE = 0.01  # between two steps


class Agent:
    """INIT -> READY (an evaluator is known) -> RUNNING (plays) -> STOPPING (was told to stop) -> READY."""

    def __init__(self):
        self.lock = threading.Lock()
        self.state = "INIT"
        self.task = None
        self.evaluator_url = None
        self.stop_event = threading.Event()
        self.at_rest = threading.Event()

    # What you write.

    def init_task(self, task):
        """Before the first step."""

    def play_env(self, task):
        """One step: look, think, act. False: the task is finished."""
        raise NotImplementedError

    def finish_task(self, task):
        """After the last step, however it ended."""

    # What plays it.

    def run_task(self, task):
        finished = False
        try:
            self.init_task(task)
            while not self.stop_event.is_set():
                if not self.play_env(task):
                    finished = True
                    break
                self.stop_event.wait(STEP_PAUSE)
        except Exception:  # the evaluator sees READY and knows that it went wrong
            traceback.print_exc()
        try:
            if finished:
                self.tell()
            self.finish_task(task)
        except Exception:
            traceback.print_exc()
        with self.lock:
            self.state = "READY"
        self.at_rest.set()

    def tell(self):
        # Still RUNNING, with this task: so the evaluator knows which one has finished. It refuses who has
        # finished before it was done starting.
        for _ in range(10):
            status, _ = call("POST", self.evaluator_url + "/evaluator/agent_finished", timeout=60)
            if status == 200 or self.stop_event.wait(0.1):
                break

    # The wire.

    def routes(self):
        return {
            ("GET", "/agent/status"): self.status,
            ("POST", "/agent/register_evaluator"): self.register_evaluator,
            ("POST", "/agent/task/start"): self.task_start,
            ("POST", "/agent/task/stop"): self.task_stop,
            ("POST", "/agent/kill"): self.kill,
        }

    def status(self, _body):
        with self.lock:
            return 200, {"state": self.state, "current_task": self.task}

    def register_evaluator(self, body):
        with self.lock:
            if self.state not in ("INIT", "READY"):
                return refused(f"The agent is {self.state}.", 500)
            self.evaluator_url = str(body["evaluator_url"]).rstrip("/")
            self.state = "READY"
        return ok(f"Registered evaluator at {self.evaluator_url}")

    def task_start(self, body):
        task = read_task(body)
        with self.lock:
            if self.state != "READY":
                return refused(f"The agent is {self.state}, not READY.")
            if self.task and self.task["task_id"] == task["task_id"]:
                return refused("This task was played before; a task id is good for one play.")
            self.state, self.task = "RUNNING", task
            self.stop_event.clear()
            self.at_rest.clear()
        threading.Thread(target=self.run_task, args=(task,), daemon=True).start()
        return ok(f"Started task for environment: {task['env_name']}")

    def task_stop(self, _body):
        with self.lock:
            if self.state != "RUNNING":
                return refused("Nothing is played.")
            self.state = "STOPPING"
            self.stop_event.set()
        if self.at_rest.wait(STOP_SECONDS):
            return ok("Stopped")
        return refused("The last step has not ended yet.", 500)

    def kill(self, _body):
        return 501, {"success": False, "message": "A thread can't be killed."}

    def run(self, host="127.0.0.1", port=8000):
        serve(listen(host, port, self.routes()))


class OneKeyAgent(Agent):
    """Taps one key all the time, through the `agon` command."""

    def __init__(self, key, desktop):
        super().__init__()
        self.key = key
        self.agon = ["agon", "desktop", "call"] + (["--desktop", desktop] if desktop else [])

    def init_task(self, task):
        self.do("window.make_active", task["window_name"])

    def play_env(self, task):
        self.do("keyboard.press", self.key)
        self.stop_event.wait(0.05)
        self.do("keyboard.release", self.key)
        return True  # the evaluator sees when it is over

    def do(self, name, argument):
        subprocess.run([*self.agon, name, argument], check=True, timeout=5, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An agent that taps one key.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--key", default="Right")
    parser.add_argument("--desktop", help="a desktop of `agon desktop list`, or a display such as :0")
    args = parser.parse_args()
    OneKeyAgent(args.key, args.desktop).run(args.host, args.port)
