//! What a set-up leaves in the background: lists are waited for until they come to their last command,
//! programs live on into the agent's turn, and nothing hangs. On private desktops and in containers.

use agon::core::FaultClass;
use agon::core::verdict::Outcome;
use serde_json::{Value, json};

use super::container::in_image;
use super::room::{Room, TERMINAL, moment, write_done};

/// Where there is `done` only once the list in the background has come to its end.
fn copy_ready() -> Value {
    json!([{ "action": "type", "text": "cp ready.txt done.txt\n" }, moment()])
}

#[track_caller]
fn passes(actions: &Value, changes: &Value) {
    let played = Room::played(actions, changes);
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
}

fn list_is_waited_for(place: fn(&Value) -> Value) {
    let list = "sleep 3 && echo done > ready.txt && setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1";
    passes(&copy_ready(), &place(&json!({ "setup_cmd": list })));
}

fn bash_list_is_waited_for(place: fn(&Value) -> Value) {
    let list =
        "#!/bin/bash\nsleep 3 && echo done > ready.txt && setsid sleep 1000 >/dev/null 2>&1 &
        sleep 0.1";
    passes(&copy_ready(), &place(&json!({ "setup_cmd": list })));
}

/// It holds on to the output of the set-up, or not.
fn program_lives_on(place: fn(&Value) -> Value, redirected: &str) {
    let command = format!("setsid {TERMINAL} {redirected} & sleep 0.1");
    let changes = json!({ "setup_cmd": command, "environment": { "apps": [] } });
    passes(&json!([write_done(), moment()]), &place(&changes));
}

#[track_caller]
fn fault(changes: &Value, phrases: &[&str]) {
    let room = Room::new();
    room.task("a", &json!([]), changes);
    let args = ["--agent", "oracle", "--retries", "1"];
    room.bench.run(&args).expect(1);
    let trials = room.bench.trials();
    assert_eq!(trials.len(), 2, "tried again: {trials:?}");
    for line in trials {
        let fault = line.fault.unwrap();
        assert_eq!(fault.class, FaultClass::Setup, "{fault}");
        for phrase in phrases {
            assert!(fault.message.contains(phrase), "`{phrase}`: {fault}");
        }
    }
}

fn list_without_end(place: fn(&Value) -> Value) {
    let list = "while sleep 1; do echo still here; done & sleep 0.1";
    let changes = json!({ "setup_cmd": list, "limits": { "setup": 2 } });
    fault(&place(&changes), &["timed out", "limits.setup"]);
}

fn failure(place: fn(&Value) -> Value) {
    let changes = json!({ "setup_cmd": "true && echo no disk >&2 && exit 3" });
    fault(&place(&changes), &["exit status 3", "no disk"]);
}

fn private(changes: &Value) -> Value {
    changes.clone()
}

#[test]
fn a_list_in_the_background_is_waited_for() {
    list_is_waited_for(private);
    bash_list_is_waited_for(private);
}

#[test]
fn container_lists_in_the_background_are_waited_for() {
    list_is_waited_for(in_image);
    bash_list_is_waited_for(in_image);
}

#[test]
fn a_program_that_the_set_up_started_lives_on() {
    program_lives_on(private, ">/dev/null 2>&1");
    program_lives_on(private, "");
}

#[test]
fn container_programs_that_the_set_up_started_live_on() {
    program_lives_on(in_image, ">/dev/null 2>&1");
    program_lives_on(in_image, "");
}

#[test]
fn a_list_that_never_ends_is_a_fault_in_time() {
    list_without_end(private);
}

#[test]
fn container_lists_that_never_end_are_a_fault_in_time() {
    list_without_end(in_image);
}

#[test]
fn a_set_up_that_fails_is_a_fault_that_is_tried_again() {
    failure(private);
}

#[test]
fn container_set_ups_that_fail_are_faults_that_are_tried_again() {
    failure(in_image);
}

#[test]
fn container_image_that_is_missing_is_named_and_nothing_is_pulled() {
    let mut changes = in_image(&json!({}));
    changes["environment"]["image"] = json!("registry.invalid/no-such:1");
    let room = Room::new();
    room.task("a", &json!([]), &changes);
    let said = room.play(&[]).stderr();
    for phrase in ["registry.invalid/no-such:1", "docker pull"] {
        assert!(said.contains(phrase), "`{phrase}`: {said}");
    }
}
