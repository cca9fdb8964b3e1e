//! Checks that look at the screen: after turns, again from the record, and programs that are shown.

use agon::core::FaultClass;
use agon::core::screen::ScreenMoment;
use agon::core::verdict::Outcome;
use serde_json::json;

use super::game::Arena;

#[test]
fn the_last_screen_of_turns_is_checked_and_can_be_checked_again() {
    let arena = Arena::new();
    let changes = json!({
        "realtime": null,
        "environment": { "apps": ["xterm -T Before -geometry 40x10+0+0"] },
        "solution": [
            { "action": "type", "text": "printf '\\033]0;After\\007'; clear; exec sleep 1000\n" },
            { "action": "wait", "seconds": 1 },
        ],
        "checks": [
            { "type": "window", "title": "After" },
            { "type": "region_changed", "share": 0.0001 },
            { "type": "process", "app": "xterm", "alive": true },
        ],
    });
    arena.play("oracle", &changes).expect(0);
    let played = arena.trial();
    let finals = played.screens(ScreenMoment::Final);
    let picture = finals[0].screen.picture.clone();

    let validate = || {
        let mode = ["--agent", "oracle", "--mode", "validate-only"];
        arena.bench.run(&mode)
    };
    validate().expect(0);
    let again = arena.trial();
    assert!(again.line.regraded);
    assert_eq!(again.line.outcome, Outcome::Passed);

    // What is not what was recorded is no evidence.
    let blob = arena.bench.reader().folder().blob(&picture.blob);
    std::fs::write(blob, "forged").unwrap();
    let called = validate();
    let said = called.stdout() + &called.stderr();
    let trials = arena.bench.trials();
    let fault = trials
        .last()
        .unwrap()
        .fault
        .as_ref()
        .unwrap_or_else(|| panic!("{said}"));
    assert_eq!(fault.class, FaultClass::Evidence);
    assert!(fault.message.contains("changed"), "{fault}");
}

#[test]
fn programs_of_this_machine_are_shown_and_come_first() {
    let arena = Arena::new();
    let changes = json!({
        "setup_cmd": "command -v env >where; ! touch /opt/agon/bin/mine",
        "realtime": null,
        "solution": [{ "action": "finish" }],
        "checks": [
            { "type": "file", "path": "where", "equals": "/opt/agon/bin/env\n" },
            { "type": "command_output", "command": "command -v env", "equals": "/opt/agon/bin/env\n" },
        ],
        "environment": { "apps": ["xterm"], "programs": ["env"] },
    });
    arena.play("oracle", &changes).expect(0);
    assert_eq!(arena.trial().line.outcome, Outcome::Passed);
}

#[test]
fn a_program_that_is_missing_is_told_with_what_to_do() {
    let arena = Arena::new();
    let changes = json!({ "environment": { "programs": ["agon-no-such-game"] } });
    arena.play("oracle", &changes).expect(1);
    let fault = arena.trial().line.fault.unwrap();
    assert_eq!(fault.class, FaultClass::Setup);
    assert!(fault.message.contains("cargo build"), "{fault}");
}
