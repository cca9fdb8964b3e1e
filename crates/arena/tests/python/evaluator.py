"""The example's evaluator, which does what a task asks for in its criteria."""

from arena_evaluator import Evaluator


class Scripted(Evaluator):
    def act(self, hook, task):
        script = task["success_criteria"].get(hook)
        if script == "error":
            raise RuntimeError("on purpose")
        return script != "end"

    def setup_environment(self, task):
        self.act("setup", task)

    def check_env_continue(self, task):
        return self.act("check", task)

    def check_env_continue_timer(self, task):
        return self.act("timer", task)

    def score_task(self, task, task_elapsed_time, note):
        self.act("score", task)
        return {"success": True, "score": 1}


Scripted().run(port=0)
