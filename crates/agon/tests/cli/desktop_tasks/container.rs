//! Desktops in containers, on the engine that DOCKER_HOST names and the image that `cargo xtask test`
//! makes.

use std::process::Command;
use std::time::{Duration, Instant};

use agon::core::FaultClass;
use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::{Value, json};

use super::room::{Room, moment, write_done, written};
use crate::probe::{refusal, watched};

const IMAGE: &str = "agon-test-desktop:1";

fn engine() -> String {
    std::env::var("DOCKER_HOST")
        .unwrap_or_else(|_| panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`"))
}

pub(super) fn in_image(more: &Value) -> Value {
    engine();
    let mut changes = more.clone();
    changes["environment"]["image"] = json!(IMAGE);
    changes
}

/// What the engine's own client prints, unless it is refused.
pub(super) fn docker_if(args: &[&str]) -> Option<String> {
    let output = Command::new("docker")
        .args(["--host", &engine()])
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    output.status.success().then(|| said.trim().to_owned())
}

/// The same where it may not be refused: who is not answered sees no containers.
#[track_caller]
pub(super) fn docker(args: &[&str]) -> String {
    docker_if(args).unwrap_or_else(|| panic!("docker {args:?}"))
}

#[test]
fn container_desktops_are_seen_and_used_as_private_ones_are() {
    let actions = json!([
        { "action": "click", "x": 0, "y": 239 },
        { "action": "click", "x": 60, "y": 60 },
        { "action": "click", "x": 320, "y": 0 },
        write_done(),
        moment(),
    ]);
    let played = Room::played(&actions, &in_image(&json!({})));
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    let steps = played.steps();
    assert_eq!(steps[0].cursor(), (0, 239));
    assert!(steps[2].error().contains("outside of the screen"));
    let window = steps[3].screen().window.as_ref().unwrap();
    assert_eq!(window.class(), "XTerm");
    assert!(!steps[3].input.is_empty());
}

#[test]
fn container_desktops_have_no_network_and_no_display_but_their_own() {
    let commands = [
        "ls /sys/class/net",
        "ls /tmp/.X11-unix | grep X",
        // Its own can be used, and is in the list.
        "DISPLAY=:0 xterm -e true && grep -c '/tmp/.X11-unix/X0' /proc/net/unix",
        "DISPLAY=:1 xterm -e true",
        "DISPLAY=:99 xterm -e true",
        "grep '/tmp/.X11-unix/X[1-9]' /proc/net/unix",
    ];
    let actions: Vec<_> = commands
        .iter()
        .map(|command| watched(command))
        .map(|command| json!({ "action": "run", "command": format!("({command}) 2>&1") }))
        .collect();
    let changes = in_image(&json!({ "actions": ["run", "finish"] }));
    let played = Room::played(&json!(actions), &changes);
    let steps = played.steps();
    let said: Vec<_> = steps.iter().map(|step| step.seen.text.trim()).collect();
    assert_eq!(&said[..2], ["lo", "X0"]);
    assert_eq!(steps[2].seen.exit_status, Some(0), "{}", said[2]);
    for ((command, step), said) in commands.iter().zip(&steps).zip(&said).skip(3) {
        let status = step.seen.exit_status;
        assert_eq!(refusal(command, status, said, None), Ok(()));
    }
}

#[test]
fn container_desktop_whose_agent_ends_its_x_server_is_graded_as_it_stands() {
    let end = json!({ "action": "type", "text": "pkill -9 Xvfb\n" });
    let actions = json!([write_done(), moment(), end, moment(), { "action": "screenshot" }]);
    let played = Room::played(&actions, &in_image(&json!({})));
    assert_eq!(
        played.line.end,
        Some(TurnEnd::ScreenLost),
        "{:?}",
        played.line
    );
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
}

fn containers(run: &str) -> Vec<String> {
    let label = format!("label=agon.run={run}");
    let ids = docker(&["ps", "--format", "{{.ID}}", "--filter", &label]);
    ids.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn container_desktop_that_is_killed_from_outside_is_a_fault() {
    let room = Room::new();
    let actions =
        json!([written(), { "action": "wait", "seconds": 15 }, { "action": "screenshot" }]);
    room.task("a", &actions, &in_image(&json!({})));
    let run = format!("desktop-{}", std::process::id());
    let args = [
        "run",
        "suite",
        "--out",
        &run,
        "--agent",
        "oracle",
        "--retries",
        "0",
    ];
    let child = room.bench.agon(&args).spawn().unwrap();
    let record = room
        .bench
        .path(&format!("{run}/trials/test/a/1.1/events.jsonl"));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !std::fs::read_to_string(&record).is_ok_and(|text| text.contains("\"seconds\":15")) {
        assert!(Instant::now() < deadline, "the trial did not begin");
    }
    let found = containers(&run);
    assert_eq!(found.len(), 1, "{found:?}");
    docker(&["kill", &found[0]]);
    let output = child.wait_with_output().unwrap();
    let reader = agon::store::RunReader::open(&room.bench.path(&run)).unwrap();
    let trials = reader.trials().unwrap();
    assert_eq!(output.status.code(), Some(1), "{trials:?}");
    assert_eq!(trials.len(), 1, "{trials:?}");
    assert_eq!(trials[0].outcome, Outcome::Faulted, "{:?}", trials[0]);
    let fault = trials[0].fault.as_ref().unwrap();
    assert_eq!(fault.class, FaultClass::Environment, "{fault}");
}
