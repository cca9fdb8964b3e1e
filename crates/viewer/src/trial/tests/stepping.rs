//! Which events belong to which step, and which screens are around it.

use agon_core::verdict::TurnEnd;
use serde_json::{Value, json};

use super::fixture::{Shelf, blob, key, screen};
use crate::shape::{State, Step};
use crate::trial::{event, head, said, step, steps};

fn kinds(step: &Step) -> Vec<&str> {
    let kind = |event: &Value| event["kind"].as_str().map(str::len);
    assert!(step.events.iter().all(|event| kind(event).is_some()));
    step.events
        .iter()
        .map(|event| event["kind"].as_str().unwrap_or_default())
        .collect()
}

/// Two actions, a refused message between them, and the end.
fn played() -> Shelf {
    let mut shelf = Shelf::new();
    shelf.event("harness", "phase", None, json!("setup"));
    shelf.event("harness", "phase", None, json!("running"));
    shelf.event("user", "instruction", None, json!("Press the button."));
    shelf.event(
        "environment",
        "observation",
        None,
        json!({"kind": "ready", "text": "", "screen": screen("one")}),
    );
    shelf.agent(
        "model",
        json!({"usage": {"input_tokens": 5}, "request": {"a": 1}}),
    );
    shelf.agent("thought", json!("It is there."));
    let click = shelf.agent("action", json!({"action": "click", "x": 3, "y": 4}));
    shelf.event("environment", "input", Some(click), json!([]));
    shelf.seen(click, "two");
    shelf.agent("thought", json!("Now what?"));
    let refused = shelf.agent("refused", json!("dance!"));
    let body = json!({"kind": "refused", "text": "no"});
    shelf.event("environment", "observation", Some(refused), body);
    let finish = shelf.agent("action", json!({"action": "finish", "result": "done"}));
    shelf.event("harness", "note", Some(finish), json!("so it goes"));
    shelf.agent("model", json!({"usage": {"output_tokens": 2}}));
    let last = json!({"what": "final", "screen": screen("three")});
    shelf.event("environment", "screen", None, last);
    shelf.event("harness", "end", None, json!("finished"));
    shelf.event("harness", "phase", None, json!("frozen"));
    let check = json!({"check": "c", "passed": true, "score": 1.0, "reason": "", "weight": 1.0});
    shelf.event("grader", "check", None, check.clone());
    shelf.event(
        "grader",
        "model",
        None,
        json!({"usage": {"input_tokens": 90}}),
    );
    let verdict = json!({"passed": true, "score": 1.0, "checks": [check]});
    shelf.event("grader", "verdict", None, verdict);
    shelf
}

#[test]
fn what_led_to_an_action_and_what_came_of_it_are_one_step() {
    let shelf = played();
    let run = shelf.ended(0);
    let list = steps(&run, &key(), 0, 500).unwrap();
    assert_eq!((list.total, list.from), (5, 0));
    let told: Vec<_> = list.rows.iter().map(|row| row.brief.as_str()).collect();
    assert_eq!(
        told,
        [
            "before the first action",
            "click 3,4",
            "refused: dance!",
            "finish \"done\"",
            "after the turn: finished"
        ]
    );
    let kinds_of = |n| kinds(&step(&run, &key(), n).unwrap()).join(" ");
    assert_eq!(kinds_of(0), "phase phase instruction observation");
    assert_eq!(kinds_of(1), "model thought action input observation");
    assert_eq!(kinds_of(2), "thought refused observation");
    assert_eq!(kinds_of(3), "action note");
    assert_eq!(kinds_of(4), "model screen end phase check model verdict");
    let kinds: Vec<_> = list.rows.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["setup", "click", "refused", "finish", "end"]);
    let failed: Vec<_> = list.rows.iter().map(|row| row.failed).collect();
    assert_eq!(failed, [false, false, true, false, false]);
}

/// No action failed: what went wrong belongs to the end.
#[test]
fn a_fault_is_told_of_the_end_alone() {
    let mut shelf = Shelf::new();
    shelf.event("harness", "phase", None, json!("running"));
    let click = shelf.agent("action", json!({"action": "click", "x": 3, "y": 4}));
    shelf.seen(click, "one");
    let fault = json!({"class": "model", "message": "no answer"});
    shelf.event("harness", "fault", None, fault);
    let list = steps(&shelf.ended(0), &key(), 0, 500).unwrap();
    let failed: Vec<_> = list
        .rows
        .iter()
        .map(|row| (row.kind.as_str(), row.failed))
        .collect();
    assert_eq!(failed, [("setup", false), ("click", false), ("end", true)]);
}

/// What faults while it is set up has no turn to end.
#[test]
fn an_end_without_a_turn_speaks_of_none() {
    let fault = || json!({"class": "environment", "message": "no such image"});
    let told = |phases: &[&str]| {
        let mut shelf = Shelf::new();
        for phase in phases {
            shelf.event("harness", "phase", None, json!(phase));
        }
        shelf.event("harness", "fault", None, fault());
        let list = steps(&shelf.ended(0), &key(), 0, 500).unwrap();
        list.rows.last().unwrap().brief.clone()
    };
    assert_eq!(told(&["setup"]), "ended before the turn");
    assert_eq!(told(&["setup", "running"]), "after the turn");
    assert_eq!(told(&["setup", "running", "frozen"]), "after the turn");
    // Records of others have no phases.
    assert_eq!(told(&[]), "after the turn");
}

#[test]
fn steps_are_numbered_as_judges_number_them() {
    let shelf = played();
    let lines = shelf.events.split(|byte| *byte == b'\n');
    let agent_did = |line: &&[u8]| {
        let Ok(event) = serde_json::from_slice::<Value>(line) else {
            return false;
        };
        event["source"] == "agent" && (event["kind"] == "action" || event["kind"] == "refused")
    };
    let count = lines.filter(agent_did).count();
    assert_eq!(head(&shelf.ended(0), &key()).unwrap().acted as usize, count);
}

#[test]
fn screens_stand_before_and_after_the_action() {
    let shelf = played();
    let run = shelf.ended(0);
    let around = |n| {
        let step = step(&run, &key(), n).unwrap();
        let hex = |shot: Option<crate::shape::Shot>| shot.map(|shot| shot.picture.blob.to_hex());
        (
            hex(step.before),
            hex(step.after),
            step.row.shot,
            step.row.changed,
        )
    };
    let (one, two, three) = (blob("one"), blob("two"), blob("three"));
    assert_eq!(around(0), (None, one.clone(), one.clone(), true));
    assert_eq!(around(1), (one, two.clone(), two.clone(), true));
    assert_eq!(around(2), (two.clone(), None, two.clone(), false));
    assert_eq!(around(3), (two.clone(), None, two.clone(), false));
    assert_eq!(around(4), (two, three.clone(), three, true));
    let shot = step(&run, &key(), 1).unwrap().after.unwrap();
    assert_eq!((shot.width, shot.height), (640, 480));
    assert_eq!(shot.window.as_deref(), Some("A window"));
    assert_eq!(shot.cursor.map(|at| (at.x, at.y)), Some((1, 2)));
}

#[test]
fn a_step_lasts_until_the_next_one() {
    let shelf = played();
    let run = shelf.ended(0);
    let list = steps(&run, &key(), 0, 500).unwrap();
    for rows in list.rows.windows(2) {
        let step = step(&run, &key(), rows[0].n).unwrap();
        assert_eq!(step.until, rows[1].t);
    }
    let last = step(&run, &key(), 4).unwrap();
    assert_eq!(last.until, head(&run, &key()).unwrap().duration);
}

#[test]
fn the_head_tells_what_the_record_knows() {
    let shelf = played();
    let run = shelf.ended(0);
    let head = head(&run, &key()).unwrap();
    assert_eq!(head.state, State::Passed);
    assert_eq!(head.score, Some(1.0));
    assert_eq!(head.instruction.as_deref(), Some("Press the button."));
    assert_eq!(head.answer.as_deref(), Some("done"));
    assert_eq!(head.checks.len(), 1);
    assert_eq!((head.acted, head.screen), (3, Some((640, 480))));
    assert_eq!(head.end, Some(TurnEnd::Finished));
    assert_eq!(head.began, Some("2026-01-02T03:04:05Z".parse().unwrap()));
    assert!(!head.live && !head.realtime);
    assert!(head.review.possible);
    assert_eq!(head.attempts.len(), 1);
    assert_eq!(head.problems, ["Pictures that are missing: 3 of 3."]);
}

#[test]
fn a_part_of_the_list_is_given_and_no_more_than_there_is() {
    let shelf = played();
    let run = shelf.ended(0);
    let numbers = |from, count| {
        let list = steps(&run, &key(), from, count).unwrap();
        let numbers: Vec<u32> = list.rows.iter().map(|row| row.n).collect();
        (list.from, numbers)
    };
    assert_eq!(numbers(1, 2), (1, vec![1, 2]));
    assert_eq!(numbers(4, 100), (4, vec![4]));
    assert_eq!(numbers(u32::MAX, u32::MAX), (5, vec![]));
    assert!(step(&run, &key(), 5).is_err());
}

#[test]
fn single_events_and_bodies_of_models_are_given_whole() {
    let shelf = played();
    let run = shelf.ended(0);
    let whole: Value = serde_json::from_str(event(&run, &key(), 5).unwrap().get()).unwrap();
    assert_eq!(whole["thought"], "It is there.");
    assert!(event(&run, &key(), 999).is_err());
    assert_eq!(said(&run, &key(), 4, "request").unwrap(), json!({"a": 1}));
    assert!(said(&run, &key(), 4, "response").is_err());
    assert!(said(&run, &key(), 5, "request").is_err());
    assert!(said(&run, &key(), 4, "model").is_err());
}

#[test]
fn long_texts_are_cut_and_long_steps_shortened() {
    let mut shelf = Shelf::new();
    let run_it = shelf.agent("action", json!({"action": "run", "command": "yes"}));
    let frame = json!({"what": "frame", "screen": screen("f")});
    for _ in 0..600 {
        shelf.event("environment", "screen", None, frame.clone());
    }
    let long = "ü".repeat(100_000);
    let body = json!({"kind": "output", "text": long});
    let seq = shelf.event("environment", "observation", Some(run_it), body);
    let run = shelf.ended(0);
    let shown = step(&run, &key(), 1).unwrap();
    assert_eq!((shown.events.len(), shown.more), (500, 102));
    let last = shown.events.last().unwrap();
    assert_eq!(last["kind"], "observation");
    assert_eq!(last["cut"], true);
    let text = last["observation"]["text"].as_str().unwrap();
    assert!(text.len() <= 64 << 10 && text.len() > 60 << 10);
    let whole = event(&run, &key(), seq).unwrap();
    let whole: Value = serde_json::from_str(whole.get()).unwrap();
    assert_eq!(whole["observation"]["text"].as_str(), Some(long.as_str()));
    assert!(whole.get("cut").is_none());
}

/// Not long strings alone: numbers and names of fields are sent as well.
#[test]
fn a_step_is_never_sent_whole_if_it_is_large() {
    let mut shelf = Shelf::new();
    let act = shelf.agent("action", json!({"action": "run", "command": "yes"}));
    let body = json!({"kind": "output", "text": "", "numbers": vec![0; 1_000_000]});
    let seq = shelf.event("environment", "observation", Some(act), body);
    shelf.event("environment", "note", None, json!("later"));
    let run = shelf.ended(0);
    let shown = step(&run, &key(), 1).unwrap();
    assert_eq!((shown.events.len(), shown.more), (2, 1));
    let last = shown.events.last().unwrap();
    assert_eq!((&last["cut"], &last["seq"]), (&json!(true), &json!(seq)));
    assert!(last.to_string().len() < 1 << 20);
    let whole = event(&run, &key(), seq).unwrap();
    assert!(whole.get().len() > 2_000_000);
}
