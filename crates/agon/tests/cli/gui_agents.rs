//! Agents that see, at work on real screens: their models are scripts, everything else is real.

use agon::core::action::Action;
use agon::core::observation::ObservationKind;
use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{FaultClass, Observation};
use agon::prelude::{Event, EventBody, TrialLine};
use serde_json::{Value, json};

use crate::support::Bench;

/// A task with a terminal that passes when `done.txt` says `done`.
fn task(screen: &str, geometry: &str, actions: Option<&Value>) -> String {
    let mut task = json!({
        "task": "Write done to done.txt.",
        "environment": {
            "kind": "desktop", "screen": screen, "apps": [format!("xterm -geometry {geometry}")],
        },
        "limits": { "steps": 12, "seconds": 120 },
        "checks": [{ "type": "file", "path": "done.txt", "equals": "done\n" }],
    });
    if let Some(actions) = actions {
        task["actions"] = actions.clone();
    }
    task.to_string()
}

/// What became of the task.
struct Played {
    line: TrialLine,
    events: Vec<Event>,
}

impl Played {
    /// The task, played by `agent` whose model says `answers` in order.
    fn of(agent: &str, task: &str, answers: &[Value]) -> Self {
        let bench = Bench::new();
        bench.suite(&[("a", task)]);
        let script = bench.write("answers.json", &Value::from(answers.to_vec()).to_string());
        let model = format!("mock/script:{}", script.display());
        let args = ["--agent", agent, "--model", &model, "--retries", "0"];
        let called = bench.run(&args);
        assert!(called.status() < 2, "{}", called.stderr());
        let line = bench.trial();
        let events = bench.reader().events(&line).unwrap();
        Self { line, events }
    }

    fn notes(&self) -> Vec<&EventBody> {
        self.events.iter().map(|event| &event.body).collect()
    }

    /// Each action with what was seen of it.
    fn steps(&self) -> Vec<(&Action, &Observation)> {
        let seen = |seq| {
            self.events.iter().find_map(|event| match &event.body {
                EventBody::Observation(seen) if event.cause == Some(seq) => Some(seen),
                _ => None,
            })
        };
        let step = |event: &'_ Event| match &event.body {
            EventBody::Action(_) => Some(event.seq),
            _ => None,
        };
        let steps = self.events.iter().filter_map(|event| {
            let seen = seen(step(event)?)?;
            match &event.body {
                EventBody::Action(action) => Some((action, seen)),
                _ => None,
            }
        });
        steps.collect()
    }
}

fn cursor(seen: &Observation) -> (i32, i32) {
    let at = seen.screen.as_ref().unwrap().cursor.unwrap();
    (at.x, at.y)
}

fn step(name: &str, parameters: &Value) -> Value {
    let tool = json!({ "name": name, "parameters": parameters });
    let answer = json!({ "observation": "a terminal", "plan": "type", "tool": tool });
    json!(answer.to_string())
}

fn call(arguments: &Value) -> Value {
    let call = json!({ "name": "computer_use", "arguments": arguments });
    json!(format!(
        "There is a terminal.\n<tool_call>\n{call}\n</tool_call>"
    ))
}

const COMMAND: &str = "echo done > done.txt\n";

#[test]
fn react_solves_a_task_and_every_step_has_the_screen_after_it() {
    let played = Played::of(
        "react",
        &task("320x240", "40x10+0+0", None),
        &[
            step("click", &json!({ "x": 100, "y": 60, "button": "left" })),
            step("type_text", &json!({ "text": COMMAND })),
            step("wait", &json!({ "seconds": 1.5 })),
            step("result", &json!({ "value": "It is written." })),
        ],
    );
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.notes());
    assert_eq!(played.line.end, Some(TurnEnd::Finished));
    let steps = played.steps();
    assert_eq!(steps.len(), 3);
    assert_eq!(cursor(steps[0].1), (100, 60));
    let picture = |nth: usize| steps[nth].1.screen.as_ref().unwrap().picture.blob;
    assert_ne!(picture(0), picture(1), "what was typed is to be seen");
    let thoughts = played.notes().into_iter().filter_map(|body| match body {
        EventBody::Thought(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(thoughts.collect::<Vec<_>>(), vec!["a terminal\ntype"; 4]);
    let finished = played.notes().into_iter().any(|body| {
        matches!(body, EventBody::Action(Action::Finish { result: Some(text) }) if text == "It is written.")
    });
    assert!(finished);
    assert!(
        played.line.usage.input_tokens > 0,
        "{:?}",
        played.line.usage
    );
}

#[test]
fn qwen_solves_a_task_on_a_large_screen_that_it_is_shown_smaller() {
    // 1920x1080 is shown as 1316x740, which the models count as 1316x728.
    let played = Played::of(
        "qwen",
        &task("1920x1080", "40x10+1500+800", None),
        &[
            call(&json!({ "action": "left_click", "coordinate": [1131, 606] })),
            call(&json!({ "action": "type", "text": COMMAND })),
            call(&json!({ "action": "wait", "time": 1.5 })),
            call(&json!({ "action": "terminate", "status": "success" })),
        ],
    );
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.notes());
    let steps = played.steps();
    let (x, y) = cursor(steps[0].1);
    assert!(
        (1650..=1651).contains(&x) && (899..=900).contains(&y),
        "{x}, {y}"
    );
    let shown = steps[0].1.screen.as_ref().unwrap();
    assert_eq!(
        (shown.width, shown.height),
        (1920, 1080),
        "recorded as it is"
    );
}

#[test]
fn points_of_a_screen_that_is_shown_at_half_its_size_land_where_they_should() {
    let at = |x: i32, y: i32| step("move_mouse", &json!({ "x": x, "y": y }));
    let played = Played::of(
        "react:side=960",
        &task("1920x1080", "40x10+0+0", None),
        &[
            at(0, 0),
            at(480, 270),
            at(959, 539),
            at(970, 5),
            step("result", &json!({ "value": "" })),
        ],
    );
    let places: Vec<_> = played
        .steps()
        .iter()
        .map(|(_, seen)| cursor(seen))
        .collect();
    assert_eq!(places, [(1, 1), (961, 541), (1919, 1079)]);
    // A point outside is not moved to the edge: it is refused, and the model is told.
    let refused = played
        .notes()
        .into_iter()
        .any(|body| matches!(body, EventBody::Refused(text) if text.contains("970")));
    assert!(refused, "{:?}", played.notes());
    assert_eq!(played.line.outcome, Outcome::Failed);
}

#[test]
fn a_shell_is_refused_and_recorded_unless_the_task_allows_it() {
    let exec = step("exec", &json!({ "command": COMMAND }));
    let end = step("result", &json!({ "value": "done" }));
    let answers = [exec, end];
    let played = Played::of("react", &task("320x240", "40x10+0+0", None), &answers);
    assert_eq!(played.line.outcome, Outcome::Failed);
    assert_eq!(played.line.end, Some(TurnEnd::Finished));
    let refused = played.events.iter().find_map(|event| match &event.body {
        EventBody::Refused(text) => Some((event.seq, text)),
        _ => None,
    });
    let (seq, text) = refused.unwrap();
    assert!(
        text.contains("exec") && text.contains("echo done"),
        "{text}"
    );
    let told = played.events.iter().find_map(|event| match &event.body {
        EventBody::Observation(seen) if event.cause == Some(seq) => Some(seen),
        _ => None,
    });
    let told = told.unwrap();
    assert_eq!(told.kind, ObservationKind::Refused);
    assert!(told.text.contains("commands can't be run"), "{}", told.text);

    let allowed = json!(["run", "click", "finish"]);
    let task = task("320x240", "40x10+0+0", Some(&allowed));
    let played = Played::of("react", &task, &answers);
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.notes());
    assert!(matches!(played.steps()[0].0, Action::Run { .. }));
}

#[test]
fn a_model_that_is_down_is_a_fault_and_one_that_talks_nonsense_is_not() {
    let task = task("320x240", "40x10+0+0", None);
    let down = json!({ "fault": "overload", "why": "too many people" });
    let played = Played::of("qwen", &task, &[down]);
    assert_eq!(played.line.outcome, Outcome::Faulted);
    let fault = played.line.fault.as_ref().unwrap();
    assert_eq!(fault.class, FaultClass::Model, "{fault:?}");
    let played = Played::of("qwen", &task, &[json!("Doors are nice.")]);
    assert_eq!(played.line.outcome, Outcome::Failed);
    assert_eq!(played.line.end, Some(TurnEnd::StepLimit));
}

#[test]
fn a_task_without_a_screen_is_a_fault_of_the_choice_and_no_failure() {
    let task = "\
task: Write done to done.txt.
environment: { kind: local }
checks: [{ type: file, path: done.txt, equals: done }]
";
    for agent in ["react", "qwen"] {
        let bench = Bench::new();
        bench.suite(&[("a", task)]);
        let args = ["--agent", agent, "--model", "mock/text:hello"];
        let called = bench.run(&args);
        let line = bench.trial();
        assert_eq!(line.outcome, Outcome::Faulted, "{}", called.stderr());
        let fault = line.fault.as_ref().unwrap();
        assert_eq!(fault.class, FaultClass::ModelSetup, "{fault:?}");
        assert!(
            fault.message.contains("the task has no screen"),
            "{fault:?}"
        );
        assert_eq!(line.attempt, 1, "trying again can't help");
    }
}
