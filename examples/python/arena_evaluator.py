#!/usr/bin/env python3
"""An evaluator for the arena: a template. Change the four hooks, keep the rest.

    agon arena agent --desktop d1 --agent one-key:Right --port 8000
    python3 arena_evaluator.py --desktop d1 --port 8001
    agon arena client --agent-url http://127.0.0.1:8000 --evaluator-url http://127.0.0.1:8001 task.json
"""

import argparse
import json
import subprocess
import threading
import time
import traceback

from arena_wire import call, listen, ok, read_task, refused, serve

CHECK_PAUSE = 0.1  # between two checks back to back
AGENT_POLL = 0.25  # between two looks at the agent


class Evaluator:
    """INIT -> READY (an agent is known) -> EVALUATING (the agent plays) -> SCORING -> READY."""

    def __init__(self, report=None):
        self.lock = threading.Lock()
        self.state = "INIT"
        self.task = None
        self.result = None
        self.agent_url = None
        self.report = report
        self.over = None  # set when the current task is to end; a new one for each task
        self.at_rest = 0  # looks in a row at an agent that does not play

    # What you write.

    def setup_environment(self, task):
        """Before the agent starts."""

    def check_env_continue(self, task):
        """Back to back while the agent plays. False: the environment has ended."""
        return True

    def check_env_continue_timer(self, task):
        """Every check_env_interval_seconds. False: the environment has ended."""
        return True

    def score_task(self, task, task_elapsed_time, note):
        """Returns the metrics, such as {"success": True, "score": 12.5}."""
        raise NotImplementedError

    # What conducts it.

    def monitor(self, task, over, began):
        timer = threading.Thread(target=self.watch, args=(task, over, self.check_env_continue_timer,
                                                          task["check_env_interval_seconds"]))
        checks = threading.Thread(target=self.watch, args=(task, over, self.check_env_continue, CHECK_PAUSE))
        agent = threading.Thread(target=self.watch, args=(task, over, self.agent_plays, AGENT_POLL))
        for thread in (timer, checks, agent):
            thread.daemon = True
            thread.start()
        if over.wait(max(0.0, began + task["timeout"] - time.monotonic())):
            note = over.note
        else:
            note = "timeout"
        elapsed = time.monotonic() - began
        if note not in ("finished", "operator", "agent_error"):  # those have stopped by themselves
            call("POST", self.agent_url + "/agent/task/stop", timeout=3)
        self.score(task, elapsed, note)

    def watch(self, task, over, check, pause):
        while not over.is_set():
            try:
                if not check(task):
                    self.end(over, "env_ended" if check != self.agent_plays else "agent_error")
            except Exception as error:
                traceback.print_exc()
                self.end(over, f"evaluator_error: {error}")
            over.wait(pause)

    def agent_plays(self, _task):
        # One that is at rest may be about to say that it has finished.
        self.at_rest = 0 if self.agent_state() in ("RUNNING", "STOPPING") else self.at_rest + 1
        return self.at_rest < 3

    def end(self, over, note):
        with self.lock:  # the first one wins
            if not over.is_set():
                over.note = note
                over.set()

    def score(self, task, elapsed, note):
        with self.lock:
            self.state = "SCORING"
        try:
            metrics = {"task_elapsed_time": elapsed, **self.score_task(task, elapsed, note)}
        except Exception as error:
            traceback.print_exc()
            metrics = {"task_elapsed_time": elapsed, "success": False, "score": -1}
            note = f"evaluator_error: {error}"
        result = {"task_id": task["task_id"], "metrics": metrics, "notes": note}
        if self.report:
            with open(self.report, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        with self.lock:
            self.state, self.result = "READY", result

    def agent_state(self):
        _, status = call("GET", self.agent_url + "/agent/status", timeout=2)
        return status.get("state") if isinstance(status, dict) else None

    # The wire.

    def routes(self):
        return {
            ("GET", "/evaluator/status"): self.status,
            ("POST", "/evaluator/register_agent"): self.register_agent,
            ("POST", "/evaluator/evaluation/start"): self.evaluation_start,
            ("POST", "/evaluator/agent_finished"): self.agent_finished,
            ("GET", "/evaluator/evaluation/results"): self.results,
        }

    def status(self, _body):
        with self.lock:
            return 200, {"state": self.state, "current_task": self.task}

    def register_agent(self, body):
        with self.lock:
            if self.state not in ("INIT", "READY"):
                return refused(f"The evaluator is {self.state}.")
            self.agent_url = str(body["agent_url"]).rstrip("/")
            self.state = "READY"
        return ok(f"Registered agent at {self.agent_url}")

    def evaluation_start(self, body):
        task = read_task(body)
        with self.lock:
            if self.state != "READY":
                return refused(f"The evaluator is {self.state}, not READY.")
            if self.task and self.task["task_id"] == task["task_id"]:
                return refused("This task was evaluated before; a task id is good for one play.", 500)
            self.state, before = "EVALUATING", self.task
            self.task, self.result, self.over, self.at_rest = task, None, threading.Event(), 0
        failed = self.prepare(task)
        if failed:
            with self.lock:
                self.state, self.task = "READY", before
            return refused(failed, 500)
        arguments = (task, self.over, time.monotonic())
        threading.Thread(target=self.monitor, args=arguments, daemon=True).start()
        return ok("Started evaluation")

    def prepare(self, task):
        """Returns what went wrong."""
        if self.agent_state() != "READY":
            return "The agent is not READY."
        try:
            self.setup_environment(task)
        except Exception as error:
            traceback.print_exc()
            return f"The environment could not be set up: {error}"
        status, answer = call("POST", self.agent_url + "/agent/task/start", task)
        return None if status == 200 else f"The agent refused ({status}): {answer}"

    def agent_finished(self, body):
        with self.lock:
            evaluating, over, task = self.state == "EVALUATING", self.over, self.task
        # Agents of Agon say which task they mean and why they ended; others say nothing.
        if not evaluating or body.get("task_id", task["task_id"]) != task["task_id"]:
            return refused("That is not evaluated.")
        reason = body.get("reason")
        self.end(over, reason if reason in ("operator", "agent_error") else "finished")
        return ok("Task completion acknowledged")

    def results(self, _body):
        with self.lock:
            return (200, self.result) if self.result else (204, None)

    def run(self, host="127.0.0.1", port=8001):
        serve(listen(host, port, self.routes()))


class WindowEvaluator(Evaluator):
    """Success is to keep the window of the task open until the time is up."""

    def __init__(self, desktop, report):
        super().__init__(report)
        self.agon = ["agon", "desktop", "call"] + (["--desktop", desktop] if desktop else [])

    def setup_environment(self, task):
        subprocess.run([*self.agon, "window.make_active", task["window_name"]], check=True, timeout=10,
                       stdout=subprocess.DEVNULL)

    def check_env_continue_timer(self, task):
        words = [*self.agon, "window.get_window_by_title", task["window_name"]]
        return subprocess.run(words, check=False, timeout=10, capture_output=True).returncode == 0

    def score_task(self, task, task_elapsed_time, note):
        return {"success": note == "timeout", "score": task_elapsed_time}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An evaluator that watches one window.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--desktop", help="a desktop of `agon desktop list`, or a display such as :0")
    parser.add_argument("--report", help="append results to this file, one JSON object per line")
    args = parser.parse_args()
    WindowEvaluator(args.desktop, args.report).run(args.host, args.port)
