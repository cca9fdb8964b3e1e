//! Records that a crash, a later version or somebody with bad intentions left.

use std::fs;

use agon_store::{EventsAt, TrialLine};
use serde_json::json;

use super::fixture::{Shelf, key, line};
use crate::error::ViewerError;
use crate::shape::{State, TrialKey};
use crate::trial::{event, head, step, steps, track};

fn short() -> Shelf {
    let mut shelf = Shelf::new();
    shelf.agent("action", json!({"action": "run", "command": "ls"}));
    shelf
}

#[test]
fn a_torn_end_is_told_and_hides_nothing_before_it() {
    let mut shelf = short();
    shelf.events.extend_from_slice(b"{\"seq\":1,\"t\":");
    let run = shelf.ended(0);
    let head = head(&run, &key()).unwrap();
    assert_eq!(head.acted, 1);
    assert!(head.problems[0].contains("cut off"), "{:?}", head.problems);
    let shelf = short();
    let run = shelf.ended(500);
    let problems = crate::trial::head(&run, &key()).unwrap().problems;
    assert!(problems[0].contains("cut off"), "{problems:?}");
}

#[test]
fn lines_that_are_no_events_are_counted() {
    let mut shelf = short();
    shelf.line("what is this");
    shelf.line("{\"seq\":\"x\"}");
    shelf.line("");
    shelf.agent("action", json!({"action": "finish"}));
    let run = shelf.ended(0);
    let head = head(&run, &key()).unwrap();
    assert_eq!(head.acted, 2);
    let told = "Lines of the record that can't be read: 2, the first at byte";
    assert!(head.problems[0].starts_with(told), "{:?}", head.problems);
}

#[test]
fn kinds_and_fields_of_a_later_version_are_shown() {
    let mut shelf = short();
    shelf.event("environment", "hologram", None, json!({"depth": 7}));
    shelf.agent("action", json!({"action": "teleport", "to": "moon"}));
    shelf.agent("action", json!(["not", "an", "object"]));
    let odd = json!({"kind": "done", "screen": {"width": "wide"}});
    shelf.event("environment", "observation", None, odd);
    let run = shelf.ended(0);
    let list = steps(&run, &key(), 0, 10).unwrap();
    let told: Vec<_> = list.rows.iter().map(|row| row.brief.as_str()).collect();
    assert_eq!(told[1..4], ["$ ls", "teleport", "unknown"]);
    let first = step(&run, &key(), 1).unwrap();
    assert_eq!(first.events[1]["hologram"]["depth"], 7);
    assert!(head(&run, &key()).unwrap().problems.is_empty());
}

#[test]
fn bytes_that_are_no_text_hide_no_step() {
    let mut shelf = short();
    let before = shelf.events.len();
    shelf.agent("thought", json!("###"));
    for byte in shelf.events[before..].iter_mut() {
        if *byte == b'#' {
            *byte = 0xff;
        }
    }
    shelf.agent("action", json!({"action": "finish"}));
    let run = shelf.ended(0);
    let shown = step(&run, &key(), 2).unwrap();
    assert_eq!(shown.events[0]["thought"], "\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn a_record_outside_of_the_run_folder_is_not_opened() {
    for file in ["../../secret", "/etc/passwd", "trials/../../x", ""] {
        let shelf = Shelf::new();
        let events = EventsAt {
            file: file.to_owned(),
            at: 0,
            bytes: 100,
            verdict: None,
        };
        shelf.append(&TrialLine { events, ..line() });
        let run = shelf.run();
        let head = head(&run, &key()).unwrap();
        assert_eq!(head.state, State::Passed);
        assert!(
            head.problems[0].starts_with("The record is missing"),
            "{file}: {:?}",
            head.problems
        );
        assert_eq!(steps(&run, &key(), 0, 10).unwrap().total, 0);
        assert!(matches!(
            event(&run, &key(), 0),
            Err(ViewerError::NotFound(_))
        ));
    }
}

#[test]
fn a_pipe_in_place_of_a_record_keeps_nobody_waiting() {
    let shelf = short();
    let file = shelf.file();
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let run = shelf.run();
    assert!(head(&run, &key()).is_err());
}

#[test]
fn links_lead_nowhere() {
    for linked in ["trials/a/b/1.1/events.jsonl", "trials/a/b/1.1", "trials"] {
        let shelf = short();
        shelf.ended(0);
        let place = shelf.folder().path().join(linked);
        let elsewhere = shelf.folder().path().with_file_name("elsewhere");
        fs::rename(&place, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
        let run = shelf.run();
        let shown = head(&run, &key()).unwrap();
        assert_eq!(shown.acted, 0, "{linked}");
        assert!(
            shown.problems[0].starts_with("The record is missing"),
            "{linked}: {:?}",
            shown.problems
        );
    }
}

#[test]
fn lines_without_end_are_passed_over_and_told() {
    let mut shelf = short();
    let long = "x".repeat(8 << 20);
    shelf.event("environment", "note", None, json!(long));
    shelf.agent(
        "action",
        json!({"action": "type", "text": "y".repeat(1 << 20)}),
    );
    let run = shelf.ended(0);
    let shown = head(&run, &key()).unwrap();
    assert_eq!(shown.acted, 2);
    let told = "Lines of the record that can't be read: 1,";
    assert!(shown.problems[0].starts_with(told), "{:?}", shown.problems);
    // A long action has its words all the same.
    let row = steps(&run, &key(), 2, 1).unwrap().rows.remove(0);
    assert_eq!(row.kind, "type");
    assert!(row.brief.starts_with("type \"yyy"), "{}", row.brief);
}

#[test]
fn checks_are_shown_up_to_a_sum() {
    let mut shelf = short();
    let check = json!({
        "check": "a", "passed": true, "score": 1.0, "reason": "r".repeat(6 << 20), "weight": 1.0,
    });
    for _ in 0..4 {
        shelf.event("grader", "check", None, check.clone());
    }
    let shown = head(&shelf.ended(0), &key()).unwrap();
    assert_eq!(shown.checks.len(), 2);
    assert!(shown.problems[0].ends_with(": 2."), "{:?}", shown.problems);
}

#[test]
fn a_picture_that_comes_back_is_missing_no_more() {
    let mut shelf = short();
    shelf.seen(0, "x");
    let run = shelf.ended(0);
    let problems = head(&run, &key()).unwrap().problems;
    assert_eq!(problems, ["Pictures that are missing: 1 of 1."]);
    let blob = shelf.folder().blob(&agon_core::Digest::of(b"x"));
    fs::create_dir_all(blob.parent().unwrap()).unwrap();
    fs::write(blob, "x").unwrap();
    assert!(head(&run, &key()).unwrap().problems.is_empty());
}

/// A person is believed, but has said nothing about what the checks found.
#[test]
fn the_score_of_the_checks_is_their_own() {
    let shelf = short();
    let ended = line();
    let run = shelf.ended(0);
    let at = "2026-01-02T03:06:00Z".parse().unwrap();
    let review = agon_store::Review::of(&ended, agon_store::ReviewVerdict::Fail, "", "anna", at);
    review.append(&shelf.folder()).unwrap();
    let shown = head(&run, &key()).unwrap();
    assert_eq!((shown.state, shown.score), (State::Failed, Some(0.0)));
    assert_eq!(shown.checks_score, Some(1.0));
}

#[test]
fn a_trial_that_was_not_played_has_a_head_and_no_steps() {
    let shelf = Shelf::new();
    let run = shelf.run();
    let planned = TrialKey {
        attempt: 0,
        ..key()
    };
    let shown = head(&run, &planned).unwrap();
    assert_eq!((shown.state, shown.steps), (State::Missing, 0));
    assert_eq!(steps(&run, &planned, 0, 10).unwrap().total, 0);
    assert!(step(&run, &planned, 0).is_err());
    assert_eq!(track(&run, &planned).unwrap().frames.len(), 0);
    let strangers = ["a/none", "../..", "a", "a/b/c", "a/b%2f"];
    for task in strangers {
        let key = TrialKey {
            task: task.to_owned(),
            epoch: 1,
            attempt: 0,
        };
        assert!(matches!(head(&run, &key), Err(ViewerError::NotFound(_))));
    }
    for (epoch, attempt) in [(2, 0), (0, 0), (1, 1)] {
        let key = TrialKey {
            task: "a/b".to_owned(),
            epoch,
            attempt,
        };
        assert!(matches!(head(&run, &key), Err(ViewerError::NotFound(_))));
    }
}

#[test]
fn a_record_of_a_newer_format_says_so() {
    let shelf = short();
    let text = format!(
        "{{\"format\":9}}\n{}",
        String::from_utf8_lossy(&shelf.events)
    );
    fs::write(shelf.file(), text).unwrap();
    let shown = head(&shelf.run(), &key()).unwrap();
    assert_eq!(shown.acted, 1);
    assert!(
        shown.problems[0].contains("format 9"),
        "{:?}",
        shown.problems
    );
}

/// Also where an attempt has ended, and where its line leads into the middle of what there is.
#[test]
fn an_ended_record_of_a_newer_format_says_so() {
    for format in [9, 99] {
        let shelf = short();
        let run = shelf.ended(0);
        let text = format!(
            "{{\"format\":{format}}}\n{}",
            String::from_utf8_lossy(&shelf.events)
        );
        fs::write(shelf.file(), text).unwrap();
        let problems = head(&run, &key()).unwrap().problems;
        let told = format!("The record is of format {format}, which a later version");
        assert!(problems[0].starts_with(&told), "{problems:?}");
        let torn = problems.iter().any(|one| one.contains("cut off"));
        assert!(!torn, "{problems:?}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400), cut in 0usize..3000) {
        let mut shelf = short();
        shelf.seen(0, "x");
        shelf.agent("action", json!({"action": "finish"}));
        let cut = cut.min(shelf.events.len());
        shelf.events.splice(cut..cut, bytes);
        let run = shelf.ended(0);
        let total = steps(&run, &key(), 0, 500).unwrap().total;
        for n in 0..total {
            step(&run, &key(), n).unwrap();
        }
        head(&run, &key()).unwrap();
        track(&run, &key()).unwrap();
    }
}
