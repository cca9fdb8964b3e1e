//! Checks that look at the screen: after turns, again from the record, and programs that are shown.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use agon::core::screen::ScreenMoment;
use agon::core::verdict::Outcome;
use agon::core::{Digest, FaultClass};
use serde_json::json;

use super::game::{Arena, task};
use crate::support::Called;

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

/// A game of this machine, and how `agon` is called that finds it.
fn with_program(arena: &Arena) -> (PathBuf, impl Fn(&str) -> Called) {
    let program = arena
        .bench
        .write("bin/agon-old-game", "#!/bin/sh\nexec xterm\n");
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let changes = json!({
        "realtime": null,
        "environment": { "apps": ["agon-old-game"], "programs": ["agon-old-game"] },
        "solution": [{ "action": "finish" }],
        "checks": [
            { "type": "window", "title": "No such", "exists": false },
            { "type": "file", "path": "game.sh" },
        ],
    });
    arena.bench.suite(&[("a", &task(&changes).to_string())]);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let call = move |mode: &str| {
        let run = "run suite --out run --json --agent oracle --mode";
        let args: Vec<&str> = run.split(' ').chain([mode]).collect();
        let output = arena.bench.agon(&args).env("PATH", &path).output();
        Called(output.unwrap())
    };
    (program, call)
}

#[test]
fn pictures_and_files_are_graded_again_without_the_programs_of_then() {
    let arena = Arena::new();
    let (program, call) = with_program(&arena);
    call("run-all").expect(0);
    std::fs::remove_file(program).unwrap();
    call("validate-only").expect(0);
    let again = arena.trial().line;
    assert!(again.regraded && again.fault.is_none(), "{again:?}");
}

#[test]
fn a_run_goes_on_with_the_programs_that_it_began_with() {
    let arena = Arena::new();
    let (program, call) = with_program(&arena);
    call("run-all").expect(0);
    let known = arena.bench.reader().manifest().programs.clone();
    assert_eq!(
        known["agon-old-game"],
        Digest::of(&std::fs::read(&program).unwrap())
    );
    call("run-all").expect(0);
    std::fs::write(&program, "#!/bin/sh\nexec xterm -bg blue\n").unwrap();
    let refused = call("run-all");
    let said = refused.stderr() + &refused.stdout();
    assert_ne!(refused.status(), 0, "{said}");
    assert!(said.contains("program agon-old-game: digest"), "{said}");
}
