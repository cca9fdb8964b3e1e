//! Which attempts are being played, as others see it while they are.

use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use agon_core::clock::FixedClock;
use agon_core::{Clock, EventBody, Source, SystemClock, TaskId};
use agon_store::{Recorder, RunFolder, RunWriter, RunningAttempt, running};

use crate::fixture::{task, writer};

/// Far longer than a machine under load needs.
const PATIENCE: Duration = Duration::from_secs(60);

fn note(text: &str) -> EventBody {
    EventBody::Note(text.to_owned())
}

fn begin(writer: &RunWriter, id: &str) -> Recorder {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    Recorder::new(writer, clock, &task(id), 1, 1)
}

/// Looks until so many attempts are being played.
fn wait_for(folder: &RunFolder, count: usize) -> Vec<RunningAttempt> {
    let clock = SystemClock::default();
    let (_never, nothing) = mpsc::channel::<()>();
    loop {
        let (found, _) = running(folder, 0).unwrap();
        if found.len() >= count {
            return found;
        }
        assert!(clock.monotonic() < PATIENCE, "only {found:?}");
        nothing.recv_timeout(Duration::from_millis(20)).ok();
    }
}

fn names(found: &[RunningAttempt]) -> Vec<&TaskId> {
    let mut names: Vec<_> = found.iter().map(|attempt| &attempt.task).collect();
    names.sort();
    names
}

#[test]
fn an_attempt_that_waits_is_seen_with_what_it_recorded_before() {
    let (_root, writer) = writer();
    let mut waits = begin(&writer, "waits");
    waits.record(Source::Harness, None, note("first")).unwrap();
    let silent = begin(&writer, "silent");
    let found = wait_for(writer.folder(), 2);
    assert_eq!(names(&found), [&task("silent"), &task("waits")]);
    let events = |recorder: &Recorder| {
        let text = std::fs::read_to_string(recorder.folder().join("events.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(events(&silent), ["{\"format\":1}"]);
    let before = events(&waits);
    assert_eq!(before.len(), 2);
    waits.record(Source::Harness, None, note("later")).unwrap();
    let after = events(&waits);
    assert_eq!(after[..2], before);
    let (first, last) = (after[1].len() as u64 + 1, after[2].len() as u64 + 1);
    let at = waits.finish(None).unwrap();
    assert_eq!(at.file, "trials/test/waits/1.1/events.jsonl");
    assert_eq!((at.at, at.bytes), (13, first + last));
}

#[test]
fn short_attempts_are_not_told_of_and_the_next_process_begins_anew() {
    let (root, first) = writer();
    let folder = RunFolder::at(root.path());
    let short = begin(&first, "short");
    let large = {
        let mut large = begin(&first, "large");
        let body = note(&"x".repeat(40 << 10));
        large.record(Source::Harness, None, body).unwrap();
        large
    };
    // An attempt that grows is told of at once.
    let (found, end) = running(&folder, 0).unwrap();
    assert_eq!(names(&found), [&task("large")]);
    short.finish(None).unwrap();
    assert_eq!(running(&folder, end).unwrap(), (Vec::new(), end));

    // As if it had been killed.
    drop((large, first));
    assert_eq!(running(&folder, 0).unwrap().1, end);
    let second = RunWriter::open(&folder).unwrap();
    assert_eq!(running(&folder, end).unwrap(), (Vec::new(), 0));
    let _lasting = begin(&second, "next");
    assert_eq!(names(&wait_for(&folder, 1)), [&task("next")]);
}

#[test]
fn those_that_end_while_they_grow_old_leave_whole_records() {
    let (_root, writer) = writer();
    let began = Barrier::new(8);
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (writer, began) = (&writer, &began);
            scope.spawn(move || {
                began.wait();
                let (_never, nothing) = mpsc::channel::<()>();
                for number in 0..3 {
                    let mut recorder = begin(writer, &format!("t{worker}-{number}"));
                    let mut count = 0;
                    // Around the time at which it moves out.
                    while recorder.elapsed() < Duration::from_millis(1030 + number * 20) {
                        recorder.record(Source::Harness, None, note("x")).unwrap();
                        count += 1;
                        nothing.recv_timeout(Duration::from_millis(100)).ok();
                    }
                    let at = recorder.finish(None).unwrap();
                    let text = std::fs::read(writer.folder().path().join(&at.file)).unwrap();
                    let own = &text[at.at as usize..(at.at + at.bytes) as usize];
                    let lines = own.split(|byte| *byte == b'\n').count() - 1;
                    assert_eq!(lines, count);
                }
            });
        }
    });
}

#[test]
fn when_an_attempt_began_is_told() {
    let (_root, writer) = writer();
    let began = "2026-11-16T10:00:00Z".parse().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(FixedClock(began));
    let _recorder = Recorder::new(&writer, clock, &task("a"), 3, 2);
    let expected = RunningAttempt {
        task: task("a"),
        epoch: 3,
        attempt: 2,
        began,
    };
    assert_eq!(wait_for(writer.folder(), 1), [expected]);
}

/// What is graded again is not played again: nobody may think that he could stop it.
#[test]
fn what_is_graded_again_is_in_no_list_of_what_is_played() {
    let (_root, writer) = writer();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let mut recorder = Recorder::of_the_past(&writer, clock, &task("again"), 1, 1);
    let long = note(&"x".repeat(40 << 10));
    recorder.record(Source::Harness, None, long).unwrap();
    let at = recorder.finish(None).unwrap();
    assert_eq!(at.file, "trials/test/again/1.1/events.jsonl");
    assert_eq!(running(writer.folder(), 0).unwrap(), (Vec::new(), 0));
}
