//! What the index says of run folders, and that it follows them.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::verdict::Outcome;
use agon_core::{EventBody, FaultClass, Level, Source, SystemClock};
use agon_store::{Recorder, ReviewVerdict, RunReader, TrialLine};
use agon_viewer::shape::{Flag, RunState, SortKey, State, TrialKey, TrialQuery};

use crate::fixture::{
    Shelf, Writing, big, broken, faulted, graded, manifest, nth_line, review, small, stamp,
};

fn key(task: &str, epoch: u32, attempt: u32) -> TrialKey {
    TrialKey {
        task: task.to_owned(),
        epoch,
        attempt,
    }
}

fn all(run: &agon_viewer::Run) -> Vec<agon_viewer::shape::TrialRow> {
    run.trials(&TrialQuery::default(), 0, 10_000).unwrap().rows
}

#[test]
fn a_small_run_adds_up_as_its_report_does() {
    let shelf = Shelf::new();
    let folder = small(&shelf.place("one")).folder;
    let run = shelf.run("one");
    let card = run.card();
    assert_eq!(card.state, RunState::Stopped);
    assert_eq!((card.planned, card.passed, card.failed), (10, 5, 2));
    assert_eq!((card.faulted, card.missing, card.reviewed), (2, 1, 2));
    assert_eq!(card.problems, Vec::<String>::new());

    let reader = RunReader::open(folder.path()).unwrap();
    let report = agon_report::RunReport::new(reader.manifest(), &reader).unwrap();
    let overall = &report.summary.overall;
    assert_eq!(run.overview().unwrap().summary, report.summary);
    assert_eq!(card.score, overall.score);
    assert_eq!(card.score_ci, overall.score_ci);
    assert_eq!(card.score_floor, overall.score_floor);
    assert_eq!(card.coverage, overall.coverage);
    assert!((card.seconds - overall.seconds.total()).abs() < 1e-9);
    assert_eq!(card.money, Some(1.25));
    // Another viewer takes the interval from the index.
    assert_eq!(shelf.run("one").card(), card);
}

#[test]
fn rows_say_what_became_of_each_trial() {
    let shelf = Shelf::new();
    small(&shelf.place("one"));
    let run = shelf.run("one");
    let rows = all(&run);
    let row = |task: &str, epoch| {
        let found =
            |row: &&agon_viewer::shape::TrialRow| row.key.task == task && row.key.epoch == epoch;
        rows.iter().find(found).unwrap().clone()
    };
    assert_eq!(rows.len(), 10);
    let seen = row("files/rename", 2);
    assert_eq!(
        (seen.state, seen.checks),
        (State::Passed, Some(Outcome::Failed))
    );
    assert_eq!(seen.flags, [Flag::Reviewed, Flag::Disagreed]);
    assert!(
        seen.why
            .starts_with("passed, says anna: looked at it; checks: file"),
        "{}",
        seen.why
    );
    let agreed = row("dialogue/ask", 1);
    assert_eq!((agreed.state, agreed.checks), (State::Failed, None));
    assert_eq!(agreed.flags, [Flag::Reviewed]);
    let missing = row("dialogue/ask", 2);
    assert_eq!((missing.state, missing.key.attempt), (State::Missing, 0));
    assert_eq!(rows.last(), Some(&missing));
    let fault = row("terminal/hostile", 2);
    assert_eq!((fault.state, fault.score), (State::Faulted, None));
    assert_eq!(fault.why, "check: the disk is gone");
    let forged = row("terminal/hostile", 1);
    assert_eq!(forged.flags, [Flag::Integrity, Flag::Tainted]);
    assert_eq!(row("files/rename", 1).flags, [Flag::Retried]);
    assert_eq!(row("web/search", 1).flags, [Flag::Rerun, Flag::Operator]);
    assert_eq!(row("files/copy", 1).tokens, 12_345);
    assert_eq!(row("files/copy", 1).level.as_deref(), Some("paper"));

    assert_eq!(
        run.row(&key("files/rename", 1, 0)).unwrap(),
        Some(row("files/rename", 1))
    );
    let first = run.row(&key("files/rename", 1, 1)).unwrap().unwrap();
    assert_eq!(first.state, State::Faulted);
    assert_eq!(run.row(&key("files/rename", 3, 0)).unwrap(), None);
}

#[test]
fn lines_and_attempts_are_found_again() {
    let shelf = Shelf::new();
    let folder = small(&shelf.place("one")).folder;
    let run = shelf.run("one");
    let reader = RunReader::open(folder.path()).unwrap();
    for line in reader.trials().unwrap() {
        let key = key(&line.task.to_string(), line.epoch, line.attempt);
        assert_eq!(run.line(&key).unwrap(), Some(line));
    }
    assert_eq!(run.line(&key("files/copy", 1, 7)).unwrap(), None);
    let attempts = run.attempts("web/search", 1).unwrap();
    let told: Vec<_> = attempts.iter().map(|a| (a.attempt, a.is_final)).collect();
    assert_eq!(told, [(1, false), (2, true)]);
    let checks = run.failed_checks().unwrap();
    assert_eq!(checks[0], ("file greeting.txt".to_owned(), 2));
    assert_eq!(checks.len(), 3);
}

#[test]
fn neighbours_follow_the_list() {
    let shelf = Shelf::new();
    small(&shelf.place("one"));
    let run = shelf.run("one");
    let query = TrialQuery {
        outcome: vec![State::Failed, State::Faulted],
        ..TrialQuery::default()
    };
    let rows = run.trials(&query, 0, 100).unwrap().rows;
    let keys: Vec<TrialKey> = rows.into_iter().map(|row| row.key).collect();
    assert_eq!(keys.len(), 4);
    for (n, key) in keys.iter().enumerate() {
        let before = n.checked_sub(1).map(|n| keys[n].clone());
        let after = keys.get(n + 1).cloned();
        assert_eq!(run.neighbours(&query, key).unwrap(), (before, after));
    }
    let other = key("files/copy", 1, 1);
    assert_eq!(run.neighbours(&query, &other).unwrap(), (None, None));
}

#[test]
fn what_is_appended_is_taken_in() {
    let shelf = Shelf::new();
    let tasks = vec![stamp("a/one", Some(Level::Paper)), stamp("a/two", None)];
    let writing = Writing::begin(&shelf.place("one"), &manifest(1, tasks));
    let run = shelf.run("one");
    let first = run.refresh().unwrap();
    assert_eq!(run.refresh().unwrap(), first);
    assert_eq!(run.card().missing, 2);

    writing.end(faulted("a/one", 1, 1, FaultClass::Start));
    let second = run.refresh().unwrap();
    assert!(second > first);
    assert_eq!(all(&run)[0].state, State::Faulted);
    // Played again; the process dies before it takes the earlier one back.
    let again = graded("a/one", 1, 2, 1.0);
    writing.end(again.clone());
    assert!(run.refresh().unwrap() > second);
    let rows = all(&run);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].state, rows[0].key.attempt), (State::Passed, 2));
    let earlier = run.line(&key("a/one", 1, 1)).unwrap().unwrap();
    assert!(!earlier.is_final);
    let summary = &run.overview().unwrap().summary;
    assert_eq!((summary.overall.passed, summary.overall.faulted), (1, 0));

    // Now it is taken back, and nothing else changes.
    let text = fs::read(writing.folder.trials_file()).unwrap();
    let mark = b"\"final\":true ";
    let at = text
        .windows(mark.len())
        .position(|part| part == mark)
        .unwrap();
    writing.writer.withdraw((at + 8) as u64).unwrap();
    assert_eq!(all(&run), rows);
    assert_eq!(all(&shelf.run("one")), rows);

    review(&writing.folder, &again, ReviewVerdict::Fail, "anna");
    assert_eq!(all(&run)[0].state, State::Failed);
    review(&writing.folder, &again, ReviewVerdict::Clear, "anna");
    assert_eq!(all(&run)[0].state, State::Passed);
    assert_eq!(all(&run)[0].flags, []);
    writing.end(graded("a/two", 1, 1, 0.0));
    assert_eq!(run.card().state, RunState::Complete);
}

#[test]
fn trials_that_are_being_played_are_told() {
    let shelf = Shelf::new();
    let tasks = vec![stamp("a/one", None), stamp("a/two", None)];
    let writing = Writing::begin(&shelf.place("one"), &manifest(1, tasks));
    let lock = writing.folder.lock().unwrap();
    let run = shelf.run("one");
    assert_eq!(run.card().state, RunState::Live);
    let play = |task: &str, attempt| {
        let line = graded(task, 1, attempt, 0.0);
        let clock = Arc::new(FixedClock(line.at));
        let mut record = Recorder::new(&writing.writer, clock, &line.task, 1, attempt);
        // As much as makes it move to a folder of its own.
        let note = EventBody::Note("x".repeat(100_000));
        record.record(Source::Harness, None, note).unwrap();
        (record, line)
    };
    let end = |(record, mut line): (Recorder, TrialLine)| {
        line.events = record.finish(None).unwrap();
        writing.writer.append_trial(&line).unwrap();
    };
    let states = |attempts| {
        let query = TrialQuery {
            attempts,
            ..TrialQuery::default()
        };
        let rows = run.trials(&query, 0, 10).unwrap().rows;
        let told = rows.into_iter().map(|row| (row.state, row.key.attempt));
        told.collect::<Vec<_>>()
    };
    let one = play("a/one", 1);
    let two = play("a/two", 1);
    assert_eq!(states(false), [(State::Running, 1), (State::Running, 1)]);
    end(one);
    assert_eq!(states(false), [(State::Failed, 1), (State::Running, 1)]);
    // How many steps it will have had is not known before it has ended; such come last, whichever way.
    for desc in [false, true] {
        let query = TrialQuery {
            sort: SortKey::Steps,
            desc,
            ..TrialQuery::default()
        };
        let rows = run.trials(&query, 0, 10).unwrap().rows;
        let told: Vec<_> = rows.iter().map(|row| (row.state, row.steps)).collect();
        let ended = graded("a/one", 1, 1, 0.0).steps;
        assert_eq!(told, [(State::Failed, Some(ended)), (State::Running, None)]);
    }
    // Played again: what counts is still the first attempt.
    let again = play("a/one", 2);
    assert_eq!(states(false), [(State::Failed, 1), (State::Running, 1)]);
    assert_eq!(
        states(true),
        [(State::Failed, 1), (State::Running, 2), (State::Running, 1)]
    );
    end(again);
    assert_eq!(states(true).len(), 3);
    let revision = run.refresh().unwrap();
    drop(lock);
    // Nobody plays it any more.
    assert_eq!(states(false), [(State::Failed, 2), (State::Missing, 0)]);
    assert!(run.refresh().unwrap() > revision);
    assert_eq!(run.card().state, RunState::Stopped);
    drop(two);
}

#[test]
fn a_line_counts_once_it_is_whole() {
    let shelf = Shelf::new();
    let folder = small(&shelf.place("one")).folder;
    let whole = fs::read(folder.trials_file()).unwrap();
    let run = shelf.run("one");
    let rows = all(&run);
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    fs::write(folder.trials_file(), &whole[..last + 20]).unwrap();
    assert_eq!(
        all(&run)
            .iter()
            .filter(|row| row.state == State::Missing)
            .count(),
        2
    );
    assert!(run.card().problems[0].contains("torn"));
    let mut file = fs::File::options()
        .append(true)
        .open(folder.trials_file())
        .unwrap();
    file.write_all(&whole[last + 20..]).unwrap();
    assert_eq!(all(&run), rows);
    assert_eq!(run.card().problems, Vec::<String>::new());
}

#[test]
fn another_file_is_taken_in_anew() {
    let shelf = Shelf::new();
    let folder = big(&shelf.place("one"), 50).folder;
    let run = shelf.run("one");
    let revision = run.refresh().unwrap();
    // As long as before, and other.
    let mut lines: Vec<TrialLine> = (0..50).map(nth_line).collect();
    lines.reverse();
    let text: String = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap() + "\n")
        .collect();
    fs::write(folder.trials_file(), text).unwrap();
    assert!(run.refresh().unwrap() > revision);
    assert_eq!(all(&run)[0].key.task, lines[0].task.to_string());
    // The plan changed.
    let mut shorter = folder.read_manifest().unwrap();
    shorter.tasks.truncate(10);
    folder.write_manifest(&shorter).unwrap();
    assert_eq!(run.card().planned, 10);
    assert!(
        run.card().problems[0].contains("40 lines"),
        "{:?}",
        run.card()
    );
    // Gone altogether.
    fs::remove_file(folder.trials_file()).unwrap();
    assert_eq!(run.card().missing, 10);
}

#[test]
fn an_index_that_is_damaged_or_can_not_be_kept_hides_nothing() {
    let shelf = Shelf::new();
    small(&shelf.place("one"));
    let rows = all(&shelf.run("one"));
    let index = || {
        let files = fs::read_dir(shelf.cache().join("index")).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        // There is a journal beside it.
        let is_index = |path: &std::path::PathBuf| path.extension() == Some("sqlite".as_ref());
        files.find(is_index).unwrap()
    };
    let length = fs::metadata(index()).unwrap().len();
    for damage in [&b"no database at all"[..], &vec![0xff; length as usize]] {
        fs::write(index(), damage).unwrap();
        assert_eq!(all(&shelf.run("one")), rows);
    }
    let mut bytes = fs::read(index()).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0x5a);
    fs::write(index(), &bytes).unwrap();
    assert_eq!(all(&shelf.run("one")), rows);
    // A file where the folder should be.
    fs::remove_dir_all(shelf.cache()).unwrap();
    fs::write(shelf.cache(), "").unwrap();
    assert_eq!(all(&shelf.run("one")), rows);
}

#[test]
fn broken_runs_say_what_is_wrong_and_show_the_rest() {
    let shelf = Shelf::new();
    broken(&shelf.runs());
    let library = shelf.library();
    assert_eq!(library.runs().unwrap().len(), 6);
    let card = |id: &str| library.run(id).unwrap().card();
    for (id, word) in [("text", "can't be read"), ("newer", "format 99")] {
        assert_eq!(card(id).state, RunState::Broken);
        assert!(card(id).problems[0].contains(word), "{:?}", card(id));
        assert!(library.run(id).unwrap().overview().is_err());
        assert!(
            library
                .run(id)
                .unwrap()
                .trials(&TrialQuery::default(), 0, 1)
                .is_err()
        );
    }
    let later = card("later");
    assert_eq!((later.passed, later.planned), (5, 10));
    assert!(later.problems[0].contains("format 99"), "{later:?}");
    let later = library.run("later").unwrap();
    assert_eq!(all(&later).len(), 10);
    assert_eq!(later.overview().unwrap().summary.overall.passed, 5);
    assert_eq!(
        (card("empty").state, card("empty").missing),
        (RunState::Stopped, 1)
    );
    // Its attempt was begun, and has no end now.
    assert_eq!((card("torn").missing, card("torn").problems.len()), (2, 2));
    let middle = card("middle");
    assert_eq!((middle.missing, middle.passed), (2, 4));
    assert!(middle.problems[0].starts_with("1 line of trials.jsonl can't be read"));
    let overview = library.run("middle").unwrap().overview().unwrap();
    assert_eq!(overview.summary.overall.passed, 4);
    assert_eq!(overview.timeline.passed.last(), Some(&4));
}

/// The first verdict counts in lists and cards; they tell of further draws and of attempts that never ended.
#[test]
fn further_draws_and_attempts_that_never_ended_stand_beside_the_score() {
    let shelf = Shelf::new();
    let tasks = ["a/one", "a/two"].map(|id| stamp(id, None));
    let writing = Writing::begin(&shelf.place("one"), &manifest(1, tasks.into()));
    writing.end(graded("a/one", 1, 1, 0.0));
    writing.end(TrialLine {
        is_final: false,
        rerun: true,
        ..graded("a/one", 1, 2, 1.0)
    });
    let clock = Arc::new(SystemClock::default());
    drop(Recorder::new(
        &writing.writer,
        clock,
        &graded("a/two", 1, 1, 1.0).task,
        1,
        1,
    ));
    let run = shelf.run("one");
    let card = run.card();
    assert_eq!((card.passed, card.failed, card.missing), (0, 1, 1));
    let told = card.problems.join("\n");
    assert!(told.contains("Begun and never ended"), "{told}");
    assert!(
        told.contains("Played again after a verdict: 1 trial"),
        "{told}"
    );
    assert_eq!(run.overview().unwrap().summary.marks.never_ended, 1);
    let attempts = run.attempts("a/one", 1).unwrap();
    let counts: Vec<_> = attempts.iter().map(|a| (a.attempt, a.is_final)).collect();
    assert_eq!(counts, [(1, true), (2, false)]);
}

#[test]
fn a_forged_line_is_told_in_the_list_of_runs() {
    let shelf = Shelf::new();
    let folder = small(&shelf.place("one")).folder;
    let path = folder.trials_file();
    let text = fs::read_to_string(&path).unwrap();
    let forged = text.replacen(
        "\"outcome\":\"failed\",\"score\":0.0",
        "\"outcome\":\"passed\",\"score\":1.0",
        1,
    );
    assert_ne!(forged, text);
    fs::write(&path, forged).unwrap();
    let told = shelf.run("one").card().problems.join("\n");
    assert!(
        told.contains("The run folder does not agree with itself"),
        "{told}"
    );
    assert!(
        told.contains("its events say failed with score 0"),
        "{told}"
    );
}
