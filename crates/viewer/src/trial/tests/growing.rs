//! Records that are still being written, by the store's own recorder.

use std::fs::{self, File};
use std::io::Write as _;
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::{Action, EventBody, Source, TaskId};
use agon_store::{Recorder, RunWriter, TrialLine};
use serde_json::json;

use super::fixture::{Shelf, key, line};
use crate::shape::State;
use crate::trial::{head, step, steps};

#[test]
fn a_record_is_gone_on_with_where_it_was_left() {
    let mut shelf = Shelf::new();
    shelf.agent("action", json!({"action": "run", "command": "ls"}));
    shelf.write();
    let run = shelf.run();
    let total = || steps(&run, &key(), 0, 0).unwrap().total;
    assert_eq!(total(), 3);
    let mut file = File::options().append(true).open(shelf.file()).unwrap();
    let written = shelf.events.len();
    for n in 0..20 {
        shelf.agent(
            "action",
            json!({"action": "run", "command": format!("echo {n}")}),
        );
    }
    // In pieces that end anywhere.
    for piece in shelf.events[written..].chunks(37) {
        file.write_all(piece).unwrap();
        total();
    }
    assert_eq!(total(), 23);
    assert_eq!(step(&run, &key(), 21).unwrap().row.brief, "$ echo 19");
    assert_eq!(head(&run, &key()).unwrap().state, State::Missing);
}

#[test]
fn an_attempt_that_began_anew_is_another_record() {
    let mut shelf = Shelf::new();
    for _ in 0..5 {
        shelf.agent("action", json!({"action": "run", "command": "ls"}));
    }
    shelf.write();
    let run = shelf.run();
    assert_eq!(steps(&run, &key(), 0, 0).unwrap().total, 7);
    let text = fs::read_to_string(shelf.file()).unwrap();
    // Of the same length, in the same file: only what it says differs.
    let text = text.replace("2026-01-02T03:04:05Z", "2026-01-02T04:04:05Z");
    fs::write(shelf.file(), text.replace("\"ls\"", "\"rm\"")).unwrap();
    assert_eq!(step(&run, &key(), 5).unwrap().row.brief, "$ rm");
}

#[test]
fn a_trial_is_live_while_it_is_played_and_ended_by_its_line() {
    let shelf = Shelf::new();
    let folder = shelf.folder();
    let lock = folder.lock().unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    let clock = Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap()));
    let task = TaskId::parse("a/b").unwrap();
    let mut recorder = Recorder::new(&writer, clock, &task, 1, 1);
    let action = || EventBody::Action(Action::run("x".repeat(1000)));
    // More than is gathered in memory.
    for _ in 0..40 {
        recorder.record(Source::Agent, None, action()).unwrap();
    }
    let run = shelf.run();
    let playing = head(&run, &key()).unwrap();
    assert_eq!((playing.state, playing.live), (State::Running, true));
    assert_eq!(playing.steps, 40);
    assert_eq!(playing.problems, Vec::<String>::new());
    let last = steps(&run, &key(), 41, 1).unwrap();
    assert_eq!(last.rows[0].brief, "not ended");
    let events = recorder.finish(None).unwrap();
    writer
        .append_trial(&TrialLine { events, ..line() })
        .unwrap();
    let ended = head(&run, &key()).unwrap();
    assert_eq!((ended.state, ended.live), (State::Passed, false));
    assert_eq!(ended.acted, 40);
    drop(lock);
}

#[test]
fn an_attempt_that_was_killed_is_shown_and_told() {
    let mut shelf = Shelf::new();
    shelf.agent("action", json!({"action": "run", "command": "ls"}));
    shelf.write();
    let head = head(&shelf.run(), &key()).unwrap();
    assert_eq!(
        (head.state, head.live, head.steps),
        (State::Missing, false, 1)
    );
    assert!(head.problems[0].contains("never came to its end"));
}
