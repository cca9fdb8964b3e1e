//! What the index says of run folders that somebody meddled with, or that do not add up by themselves.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::SystemTime;

use agon_core::FaultClass;
use agon_report::RunReport;
use agon_store::{Progress, ReviewVerdict, RunReader, TrialLine};
use agon_viewer::shape::{RunState, TrialKey, TrialQuery};
use agon_viewer::{Library, Run};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::fixture::{Shelf, Writing, faulted, graded, manifest, priced, small, stamp};

/// A run folder may come from anywhere: pipes, devices and links in it keep nobody waiting.
#[test]
fn what_is_no_plain_file_is_told_and_stops_nobody() {
    let shelf = Shelf::new();
    let good = small(&shelf.place("good")).folder;
    for file in [
        "run.json",
        "run.lock",
        "trials.jsonl",
        "reviews.jsonl",
        "running.jsonl",
        "control.jsonl",
    ] {
        for kind in ["pipe", "zero", "link"] {
            let name = format!("{kind}-{file}");
            let folder = small(&shelf.place(&name)).folder;
            let path = folder.path().join(file);
            fs::remove_file(&path).ok();
            match kind {
                "pipe" => {
                    let mode = Mode::RUSR | Mode::WUSR;
                    mknodat(CWD, &path, FileType::Fifo, mode, 0).unwrap();
                }
                "zero" => symlink("/dev/zero", &path).unwrap(),
                _ => symlink(good.path().join(file), &path).unwrap(),
            }
        }
    }
    let library = shelf.library();
    let cards = library.cards().unwrap();
    assert_eq!(cards.len(), 19);
    for card in cards {
        let harmless = ["good", "run.lock", "control.jsonl"];
        if harmless.iter().any(|part| card.id.ends_with(part)) {
            assert_eq!(card.state, RunState::Stopped, "{card:?}");
            continue;
        }
        assert_eq!(card.state, RunState::Broken, "{card:?}");
        let told = &card.problems[0];
        let why = ["no plain file", "is a link"];
        assert!(why.iter().any(|part| told.contains(part)), "{told}");
        assert!(library.run(&card.id).unwrap().refresh().is_err());
    }
}

#[test]
fn a_run_without_its_manifest_is_listed_with_the_reason() {
    let shelf = Shelf::new();
    let folder = small(&shelf.place("one")).folder;
    fs::remove_file(folder.manifest_file()).unwrap();
    let cards = shelf.library().cards().unwrap();
    assert_eq!(cards.len(), 1);
    assert_eq!(cards[0].state, RunState::Broken);
    assert!(cards[0].problems[0].contains("no run.json"), "{cards:?}");
}

/// A part of the calls has a price: what is known is a lower bound, as the report says.
#[test]
fn costs_that_are_lower_bounds_say_so() {
    let shelf = Shelf::new();
    let tasks = ["a/partly", "a/wholly", "a/free"].map(|id| stamp(id, None));
    let writing = Writing::begin(&shelf.place("one"), &manifest(1, tasks.into()));
    let run = shelf.run("one");
    writing.end(priced(graded("a/wholly", 1, 1, 1.0), 900, Some(1_000)));
    writing.end(graded("a/free", 1, 1, 1.0));
    assert!(!run.card().unpriced);
    let mut partly = priced(graded("a/partly", 1, 1, 1.0), 900, Some(2_000));
    partly.usage.unpriced_calls = 3;
    writing.end(partly);
    let card = run.card();
    assert!(card.unpriced && card.money.is_some());
    let told: Vec<(String, bool)> = run
        .trials(&TrialQuery::default(), 0, 10)
        .unwrap()
        .rows
        .into_iter()
        .map(|row| (row.key.task, row.unpriced))
        .collect();
    let expected = [("a/wholly", false), ("a/free", false), ("a/partly", true)];
    assert_eq!(told, expected.map(|(task, is)| (task.to_owned(), is)));
}

#[test]
fn what_is_graded_again_ended_when_it_was_played() {
    let shelf = Shelf::new();
    let tasks = vec![stamp("a/one", None), stamp("a/two", None)];
    let writing = Writing::begin(&shelf.place("one"), &manifest(1, tasks));
    let at = |text: &str| text.parse().unwrap();
    let first = TrialLine {
        at: at("2026-01-02T03:04:15Z"),
        ..graded("a/one", 1, 1, 0.0)
    };
    writing.end(first);
    writing.end(TrialLine {
        at: at("2026-01-02T03:04:25Z"),
        ..graded("a/two", 1, 1, 0.0)
    });
    writing.end(TrialLine {
        at: at("2026-01-09T03:04:15Z"),
        regraded: true,
        played_in: Some(1),
        ..graded("a/one", 1, 2, 1.0)
    });
    let timeline = shelf.run("one").overview().unwrap().timeline.clone();
    assert_eq!(timeline.t, [10.0, 20.0]);
    assert_eq!((timeline.passed, timeline.failed), (vec![1, 1], vec![0, 1]));
}

/// As a process leaves it that was killed after it wrote a result and before it took back the one before.
#[test]
fn of_two_results_of_a_trial_everybody_counts_the_later_one() {
    let shelf = Shelf::new();
    let tasks = ["a/one", "a/two"].map(|id| stamp(id, None));
    let writing = Writing::begin(&shelf.place("one"), &manifest(2, tasks.into()));
    let watched = shelf.run("one");
    writing.end(priced(graded("a/one", 1, 1, 1.0), 900, Some(1_000)));
    writing.end(faulted("a/two", 1, 1, FaultClass::Start));
    writing.end(graded("a/one", 2, 1, 1.0));
    assert_eq!(watched.card().passed, 2);
    writing.end(priced(graded("a/one", 1, 2, 0.5), 700, Some(3_000)));
    writing.end(graded("a/two", 1, 2, 1.0));
    writing.review(&graded("a/two", 1, 2, 1.0), ReviewVerdict::Fail, "anna");
    let folder = &writing.folder;
    let agree = |run: &Run| {
        let reader = RunReader::open(folder.path()).unwrap();
        let report = RunReport::new(reader.manifest(), &reader).unwrap().summary;
        assert_eq!(run.overview().unwrap().summary, report);
        let (card, overall) = (run.card(), &report.overall);
        assert_eq!(
            (card.passed, card.failed, card.faulted, card.missing),
            (
                overall.passed,
                overall.failed,
                overall.faulted,
                overall.missing
            ),
        );
        assert_eq!(
            (card.score, card.score_floor),
            (overall.score, overall.score_floor)
        );
        assert_eq!((card.passed, card.failed, card.missing), (1, 2, 1));
        assert_eq!(report.marks.stray_lines, 0);
        // What a run does that goes on: it plays nothing of these again.
        let progress = Progress::read(folder).unwrap();
        let rows = run.trials(&TrialQuery::default(), 0, 10).unwrap().rows;
        let played = rows.iter().filter(|row| row.key.attempt > 0);
        assert_eq!(played.clone().count(), 3);
        for row in played {
            let latest = progress.of(&row.key.task, row.key.epoch).unwrap();
            assert_eq!(latest.played_in, row.key.attempt, "{row:?}");
            let line = run.line(&row.key).unwrap().unwrap();
            assert_eq!(latest.outcome, Some(line.outcome));
        }
        for line in reader.trials().unwrap() {
            let key = TrialKey {
                task: line.task.to_string(),
                epoch: line.epoch,
                attempt: line.attempt,
            };
            assert_eq!(run.line(&key).unwrap(), Some(line));
        }
    };
    agree(&watched);
    agree(&shelf.run("one"));
    // The next run takes the earlier ones back, which changes nothing.
    let stale = Progress::read(folder).unwrap().stale;
    assert_eq!(stale.len(), 2);
    for at in stale {
        writing.writer.withdraw(at).unwrap();
    }
    agree(&watched);
    let other = Library::new(vec![shelf.runs()], shelf.place("../other-cache")).unwrap();
    agree(&other.run("one").unwrap());
}

#[test]
fn a_task_that_is_planned_twice_counts_once_and_is_told() {
    let shelf = Shelf::new();
    let tasks = ["a/one", "a/two", "a/one"].map(|id| stamp(id, None));
    let writing = Writing::begin(&shelf.place("one"), &manifest(1, tasks.into()));
    writing.end(graded("a/one", 1, 1, 1.0));
    writing.end(graded("a/two", 1, 1, 1.0));
    let run = shelf.run("one");
    let card = run.card();
    assert_eq!((card.planned, card.missing), (2, 0));
    assert_eq!((card.coverage, card.score_floor), (1.0, 1.0));
    assert!(
        card.problems[0].contains("names tasks twice: 1"),
        "{card:?}"
    );
    assert_eq!(run.overview().unwrap().summary.overall.trials, 2);
}

#[test]
fn an_index_that_nobody_opens_any_more_is_removed() {
    let shelf = Shelf::new();
    small(&shelf.place("one"));
    shelf.run("one").refresh().unwrap();
    let folder = shelf.cache().join("index");
    let files = || {
        let found = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let kept = found.filter(|path| path.extension().is_some_and(|end| end == "sqlite"));
        kept.collect::<Vec<_>>()
    };
    let path = files().remove(0);
    let file = fs::File::options().write(true).open(&path).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH;
    file.set_modified(long_ago).unwrap();
    let library = shelf.library();
    assert_eq!(files().len(), 0);
    library.run("one").unwrap().refresh().unwrap();
    // What was opened lately stays.
    shelf.library();
    assert_eq!(files(), [path]);
}
