//! The programs that a task starts: how they end is known from outside of their sandbox.

use agon::core::screen::ScreenMoment;
use agon::core::verdict::Outcome;
use serde_json::{Value, json};

use super::game::{Arena, Played};

/// A terminal, what is done beside it, and what its program should have come to.
fn played(app: &str, command: &str, state: &Value) -> Played {
    played_in(None, app, command, state)
}

fn played_in(image: Option<&str>, app: &str, command: &str, state: &Value) -> Played {
    let arena = Arena::new();
    let mut check = json!({ "type": "process", "app": "xterm" });
    check
        .as_object_mut()
        .unwrap()
        .append(&mut state.as_object().unwrap().clone());
    let changes = json!({
        "realtime": null,
        "environment": { "apps": [app], "image": image },
        "actions": ["run", "wait", "finish"],
        "solution": [
            { "action": "run", "command": command },
            { "action": "wait", "seconds": 0.5 },
        ],
        "checks": [check],
    });
    arena.play("oracle", &changes).expect(0);
    arena.trial()
}

#[test]
fn an_end_can_not_be_forged_inside() {
    let forge = "for file in /tmp/.agon-app-0 /tmp/.agon-app-0.status; do echo 0 >$file; done";
    let played = played("xterm", forge, &json!({ "alive": true }));
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
}

#[test]
fn one_that_was_killed_has_ended_so() {
    let played = played(
        "exec xterm",
        "pkill -9 xterm",
        &json!({ "exit_status": 137 }),
    );
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    let finals = played.screens(ScreenMoment::Final);
    assert_eq!(finals[0].around.as_ref().unwrap().apps[0].exit, Some(137));
}

#[test]
fn one_that_goes_to_the_background_is_no_failure() {
    let played = played("xterm -T Later &", "true", &json!({ "exit_status": 0 }));
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    let finals = played.screens(ScreenMoment::Final);
    let windows = &finals[0].around.as_ref().unwrap().windows;
    assert!(windows.iter().any(|window| window.title() == "Later"));
}

#[test]
fn one_that_says_much_is_not_held_up() {
    let app = "xterm & for i in $(seq 20000); do echo a line that nobody reads; done; exit 0";
    let played = played(app, "true", &json!({ "exit_status": 0 }));
    assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
}

#[test]
fn the_words_of_one_that_has_no_window_are_told() {
    let arena = Arena::new();
    let app = "echo out of paint >&2; exit 4";
    let changes =
        json!({ "environment": { "apps": [app] }, "checks": [{ "type": "file", "path": "a" }] });
    arena.play("noop", &changes).expect(1);
    let fault = arena.trial().line.fault.unwrap();
    for part in ["out of paint", "status 4", "no window"] {
        assert!(fault.message.contains(part), "{fault}");
    }
}

#[test]
fn container_apps_are_known_from_outside_as_well() {
    let host = std::env::var("DOCKER_HOST");
    host.unwrap_or_else(|_| {
        panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`")
    });
    for (app, command, state) in [
        (
            "xterm",
            "echo 0 >/tmp/.agon-app-0.status",
            json!({ "alive": true }),
        ),
        (
            "exec xterm",
            "pkill -9 xterm",
            json!({ "exit_status": 137 }),
        ),
    ] {
        let played = played_in(Some("agon-test-desktop:1"), app, command, &state);
        assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
    }
}
