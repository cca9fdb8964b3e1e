"""Reads a folder of results as the original's users do: the keys of its classes, the four check types that
its registry knows, and its rule for what counts."""
import base64
import glob
import json
import sys
from dataclasses import dataclass, fields

CHECKS = {"returned_result": {"value"}, "final_screenshot": {"value"}, "expected_flow": {"value"},
          "command_output": {"command", "value"}}
WEIGHTS = {"paper": 0.5, "wood": 1, "bronze": 2, "silver": 4, "gold": 8}


@dataclass
class Step:
    timestamp: float
    action: str
    thought: str
    screenshot: str


@dataclass
class CommandOutputCheckResult:
    command: str
    output: str


@dataclass
class TestCaseRun:
    id: str
    name: str
    category: str
    level: str
    task: str
    setup_cmd: str
    desktop_image: str
    checks: list
    agent_yaml: str
    agent_model: str
    max_steps: int
    status: str
    result: Step
    trajectory: list
    command_output_check_results: list
    input_tokens: int
    output_tokens: int
    ai_score: float
    ai_comment: str
    human_score: float
    human_comment: str
    validation_input_tokens: int
    validation_output_tokens: int


def check(data):
    kind = data.pop("type")
    assert set(data) == CHECKS[kind], (kind, data)
    return kind


passed = total = 0
for path in sorted(glob.glob(sys.argv[1] + "/*/*.json")):
    with open(path) as file:
        data = json.load(file)
    # An unknown key is an error, and so is one that is missing.
    assert list(data) == [field.name for field in fields(TestCaseRun)], list(data)
    run = TestCaseRun(**data)
    assert path.endswith(f"/{run.category}/{run.id}.json"), path
    kinds = [check(one) for one in run.checks]
    steps = [Step(**step) for step in run.trajectory]
    result = Step(**run.result)
    assert [step.timestamp for step in steps] == sorted(step.timestamp for step in steps)
    for step in steps + [result]:
        assert isinstance(step.timestamp, float) and isinstance(step.action, str), step
        if step.screenshot:
            head, data = step.screenshot.split(",", 1)
            assert head == "data:image/png;base64", head
            assert base64.b64decode(data, validate=True).startswith(b"\x89PNG"), step
    outputs = [CommandOutputCheckResult(**one) for one in run.command_output_check_results]
    for field in ["id", "name", "level", "task", "setup_cmd", "desktop_image", "agent_yaml", "agent_model", "status"]:
        assert isinstance(getattr(run, field), str), field
    score = run.human_score if run.human_score >= 0 else run.ai_score
    passed += WEIGHTS[run.level] * (score > 0)
    total += WEIGHTS[run.level]
    shown = sum(bool(step.screenshot) for step in steps)
    print(run.category, run.id, run.status, run.ai_score, run.human_score, "+".join(kinds), len(steps), shown,
          [one.output for one in outputs], repr(result.action), bool(result.screenshot))
print("weighted", passed, "of", total)
