"""The example's agent, which does what a task asks for in `success_criteria.agent`."""

import time

from arena_agent import Agent


class Scripted(Agent):
    def play_env(self, task):
        script = task["success_criteria"].get("agent")
        if script == "finish":
            return False
        if script == "fail":
            raise RuntimeError("on purpose")
        if script == "slow":
            time.sleep(0.7)
        return True


Scripted().run(port=0)
