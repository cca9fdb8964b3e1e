//! Whether a run folder agrees with itself: digests, verdicts, attempts that were begun.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agon_core::verdict::{Outcome, Verdict};
use agon_core::{Clock, Digest, EventBody, FaultClass, Source, SystemClock, TrialId};
use agon_store::{Audit, Manifest, Progress, Recorder, RunFolder, RunReader, RunWriter, TrialLine};
use tempfile::TempDir;

use crate::fixture::{copy_of_golden, faulted, golden, task};

/// A run of three trials with their events; `a` failed.
fn played() -> (TempDir, RunFolder) {
    let root = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(root.path());
    let text = fs::read(golden().join("run.json")).unwrap();
    let mut manifest: Manifest = serde_json::from_slice(&text).unwrap();
    manifest.plan = manifest.plan_digest();
    folder.write_manifest(&manifest).unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    for (id, passed) in [("a", false), ("b", true), ("c", true)] {
        play(&writer, id, 1, passed);
    }
    writer.flush().unwrap();
    (root, folder)
}

fn play(writer: &RunWriter, id: &str, attempt: u32, passed: bool) -> TrialLine {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let mut recorder = Recorder::new(writer, clock, &task(id), 1, attempt);
    let verdict = Verdict {
        passed,
        score: f64::from(u8::from(passed)),
        checks: Vec::new(),
    };
    let body = EventBody::Verdict(verdict.clone());
    recorder.record(Source::Grader, None, body).unwrap();
    let events = recorder.finish(Some(&verdict)).unwrap();
    let trial = TrialId {
        task: task(id),
        epoch: 1,
    };
    let at = "2026-11-15T12:00:00Z".parse().unwrap();
    let key = Digest::of(b"key");
    let line = TrialLine::new(trial, attempt, Ok(&verdict), events, key, at);
    writer.append_trial(&line).unwrap();
    line
}

fn audit(folder: &RunFolder) -> Audit {
    let reader = RunReader::open(folder.path()).unwrap();
    reader.audit().unwrap().clone()
}

fn rewrite(path: &Path, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(path).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text);
    fs::write(path, changed).unwrap();
}

#[test]
fn what_was_written_agrees_with_itself() {
    let (_root, folder) = played();
    let found = audit(&folder);
    assert_eq!(found.findings, [""; 0]);
    assert_eq!((found.lines, found.compared), (3, 3));
    assert_eq!((found.without_digest, found.disagreements), (0, 0));
    assert!(found.never_ended.is_empty());
}

#[test]
fn a_verdict_that_was_changed_in_a_line_is_told_by_the_chain_and_by_the_events() {
    let (_root, folder) = played();
    let forge = |text: String| {
        let text = text.replacen("\"outcome\":\"failed\"", "\"outcome\":\"passed\"", 1);
        text.replacen("\"score\":0.0", "\"score\":1.0", 1)
    };
    rewrite(&folder.trials_file(), forge);
    let found = audit(&folder);
    let told = found.findings.join("\n");
    assert!(
        told.contains("line 1 of trials.jsonl (test/a#1, attempt 1) was changed"),
        "{told}"
    );
    assert!(
        told.contains("says passed with score 1, and its events say failed with score 0"),
        "{told}"
    );
    assert_eq!(found.disagreements, 2, "{told}");
}

#[test]
fn lines_that_were_taken_out_put_in_or_moved_do_not_follow() {
    let order = |lines: &[usize]| {
        let (_root, folder) = played();
        let path = folder.trials_file();
        let text = fs::read_to_string(&path).unwrap();
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let kept: String = lines.iter().map(|at| all[*at]).collect();
        fs::write(&path, kept).unwrap();
        audit(&folder).disagreements
    };
    assert_eq!(order(&[0, 1, 2]), 0);
    assert!(order(&[0, 2]) > 0);
    assert!(order(&[1, 2]) > 0);
    assert!(order(&[1, 0, 2]) > 0);
    assert!(order(&[0, 0, 1, 2]) > 0);
}

#[test]
fn a_verdict_that_was_changed_in_the_events_is_told() {
    let (_root, folder) = played();
    let segment = folder.segments().join("000001.jsonl");
    rewrite(&segment, |text| {
        text.replacen("\"score\":1.0", "\"score\":0.5", 1)
    });
    let told = audit(&folder).findings.join("\n");
    assert!(
        told.contains("names another verdict than its events hold"),
        "{told}"
    );
    fs::remove_file(&segment).unwrap();
    assert_eq!(audit(&folder).disagreements, 3);
}

#[test]
fn tasks_that_were_cut_out_of_the_manifest_are_told() {
    let (_root, folder) = played();
    let path = folder.manifest_file();
    let mut manifest = folder.read_manifest().unwrap();
    manifest.tasks.pop();
    // Whoever writes a manifest anew gives it a new digest, and the plan stays what it was.
    folder.write_manifest(&manifest).unwrap();
    let told = audit(&folder).findings.join("\n");
    assert!(
        told.contains("another plan than the one that was begun"),
        "{told}"
    );
    manifest.plan = manifest.plan_digest();
    folder.write_manifest(&manifest).unwrap();
    assert_eq!(audit(&folder).findings, [""; 0]);
    rewrite(&path, |text| {
        text.replacen("\"weight\": 1.0", "\"weight\": 9.0", 1)
    });
    assert_eq!(
        audit(&folder).findings,
        ["run.json was changed after it was written"]
    );
}

#[test]
fn the_word_final_can_be_taken_back_and_not_be_moved() {
    let (_root, folder) = played();
    let writer = RunWriter::open(&folder).unwrap();
    let first = Progress::read(&folder).unwrap().of("test/a", 1).unwrap();
    let line = play(&writer, "a", 2, true);
    writer.withdraw(first.final_at.unwrap()).unwrap();
    assert!(line.is_final);
    assert_eq!(audit(&folder).findings, [""; 0]);
    // Without another result behind it, it was not taken back by us.
    let (_root, folder) = played();
    let forge = |text: String| text.replacen("\"final\":true ", "\"final\":false", 1);
    rewrite(&folder.trials_file(), forge);
    let told = audit(&folder).findings.join("\n");
    assert!(
        told.contains("was the result, and no other took its place"),
        "{told}"
    );
}

/// As after `kill -9` in the middle of a line: the next process goes on with the chain.
#[test]
fn the_chain_stays_whole_when_a_torn_line_was_cut_off() {
    let (_root, folder) = played();
    let path = folder.trials_file();
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 30]).unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    assert!(writer.cut_torn_line());
    play(&writer, "c", 2, true);
    let found = audit(&folder);
    assert_eq!(found.findings, [""; 0]);
    let open: Vec<_> = found.never_ended.iter().map(|one| one.attempt).collect();
    assert_eq!(open, [1], "its line is gone");
}

#[test]
fn lines_of_an_older_version_are_told_as_such_and_gone_on_with() {
    let (_root, folder) = copy_of_golden();
    let found = audit(&folder);
    assert_eq!(found.findings, [""; 0]);
    assert_eq!(found.without_digest, found.lines);
    let writer = RunWriter::open(&folder).unwrap();
    play(&writer, "late", 1, true);
    play(&writer, "later", 1, true);
    let later = audit(&folder);
    assert_eq!(later.findings, [""; 0]);
    assert_eq!(
        (later.lines, later.without_digest),
        (found.lines + 2, found.lines)
    );
    // Once there are digests, no line is without one.
    let path = folder.trials_file();
    let text = fs::read_to_string(&path).unwrap();
    let at = text.rfind(",\"chain\"").unwrap();
    fs::write(&path, format!("{}}}\n", &text[..at])).unwrap();
    let told = audit(&folder).findings.join("\n");
    assert!(
        told.contains("has no digest, though the one before it has"),
        "{told}"
    );
}

#[test]
fn an_attempt_that_was_begun_and_never_ended_stays_in_the_record() {
    let (_root, folder) = played();
    let writer = RunWriter::open(&folder).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    // As if it had been killed, twice.
    for attempt in [1, 2] {
        drop(Recorder::new(
            &writer,
            Arc::clone(&clock),
            &task("d"),
            1,
            attempt,
        ));
    }
    drop(writer);
    let progress = Progress::read(&folder).unwrap();
    let latest = progress.of("test/d", 1).unwrap();
    assert_eq!((latest.attempt, latest.outcome), (2, None));
    let writer = RunWriter::open(&folder).unwrap();
    play(&writer, "d", 3, true);
    let found = audit(&folder);
    let open: Vec<_> = found
        .never_ended
        .iter()
        .map(|one| (one.attempt, one.process))
        .collect();
    assert_eq!(open, [(1, 2), (2, 2)]);
    assert_eq!(found.findings, [""; 0]);
    // Whoever takes them out of the list leaves a gap.
    fs::remove_file(folder.begun_file()).unwrap();
    let told = audit(&folder).findings.join("\n");
    assert!(
        told.contains("2 attempts are named neither as begun nor as ended"),
        "{told}"
    );
}

/// What is played now is not lost.
#[test]
fn attempts_that_are_being_played_have_not_been_killed() {
    let (_root, folder) = played();
    let _lock = folder.lock().unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let _playing = Recorder::new(&writer, clock, &task("d"), 1, 1);
    assert!(audit(&folder).never_ended.is_empty());
    drop(_lock);
    assert_eq!(audit(&folder).never_ended.len(), 1);
}

#[test]
fn the_first_verdict_counts_and_later_draws_stand_beside_it() {
    let (_root, folder) = played();
    let writer = RunWriter::open(&folder).unwrap();
    let line = play(&writer, "x", 1, false);
    for is_final in [false, true] {
        let draw = TrialLine {
            attempt: 2 + u32::from(is_final),
            is_final,
            outcome: Outcome::Passed,
            score: 1.0,
            rerun: true,
            ..line.clone()
        };
        writer.append_trial(&draw).unwrap();
        let reader = RunReader::open(folder.path()).unwrap();
        let counts: Vec<_> = reader.trials().unwrap();
        let counts = counts
            .iter()
            .filter(|line| line.is_final && line.task == task("x"));
        let counts: Vec<_> = counts.map(|line| (line.attempt, line.outcome)).collect();
        assert_eq!(counts, [(1, Outcome::Failed)], "{is_final}");
        let latest = Progress::read(&folder).unwrap().of("test/x", 1).unwrap();
        assert_eq!(latest.outcome, Some(Outcome::Failed));
        assert_eq!(latest.redrawn, Some(Outcome::Passed));
        assert!(Progress::read(&folder).unwrap().stale.is_empty());
    }
    // As an older version left them: it had taken back the first verdict.
    let at = Progress::read(&folder).unwrap().of("test/x", 1).unwrap();
    writer.withdraw(at.final_at.unwrap()).unwrap();
    let reader = RunReader::open(folder.path()).unwrap();
    let counts = reader.trials().unwrap();
    let counts = counts
        .iter()
        .filter(|line| line.is_final && line.task == task("x"));
    assert_eq!(counts.map(|line| line.attempt).collect::<Vec<_>>(), [1]);
}

/// A fault is no verdict: what comes after it counts.
#[test]
fn a_fault_gives_way_to_the_first_verdict() {
    let (_root, folder) = played();
    let writer = RunWriter::open(&folder).unwrap();
    writer
        .append_trial(&faulted("y", 1, 1, FaultClass::Model))
        .unwrap();
    play(&writer, "y", 2, false);
    let latest = Progress::read(&folder).unwrap().of("test/y", 1).unwrap();
    assert_eq!((latest.attempt, latest.outcome), (2, Some(Outcome::Failed)));
}
