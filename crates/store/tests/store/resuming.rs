//! What is known of a run that ended anyhow, and how results are taken back.

use std::fs;

use agon_core::FaultClass;
use agon_core::verdict::Outcome;
use agon_store::{Latest, Progress, RunFolder, RunReader, RunWriter, TrialLine};
use proptest::prelude::*;

use crate::fixture::{copy_of_golden, faulted, line, writer};

fn append(writer: &RunWriter, lines: &[TrialLine]) {
    for line in lines {
        writer.append_trial(line).unwrap();
    }
}

fn read(folder: &RunFolder) -> Vec<TrialLine> {
    let text = fs::read_to_string(folder.trials_file()).unwrap();
    alone(text.lines().map(|line| serde_json::from_str(line).unwrap()))
}

/// Without the digests, which are of the lines before as well.
fn alone(lines: impl IntoIterator<Item = TrialLine>) -> Vec<TrialLine> {
    let without = |line| TrialLine {
        chain: None,
        ..line
    };
    lines.into_iter().map(without).collect()
}

#[test]
fn a_run_without_trials_is_at_its_beginning() {
    let root = tempfile::tempdir().unwrap();
    let progress = Progress::read(&RunFolder::at(root.path())).unwrap();
    assert_eq!(progress.of("test/a", 1), None);
    assert!(progress.stale.is_empty());
}

#[test]
fn the_final_attempt_is_the_last_word() {
    let (_root, writer) = writer();
    append(
        &writer,
        &[
            line("a", 1, 1, false),
            line("a", 1, 2, true),
            line("b", 1, 1, false),
            faulted("c", 1, 1, FaultClass::Start),
            faulted("d", 1, 1, FaultClass::NeedsJudge),
        ],
    );
    let progress = Progress::read(writer.folder()).unwrap();
    let seen = |task: &str| {
        let latest = progress.of(task, 1).unwrap();
        (latest.attempt, latest.outcome, latest.retryable)
    };
    assert_eq!(seen("test/a"), (2, Some(Outcome::Passed), false));
    assert_eq!(seen("test/b"), (1, None, false));
    assert_eq!(seen("test/c"), (1, Some(Outcome::Faulted), true));
    assert_eq!(seen("test/d"), (1, Some(Outcome::Faulted), false));
    assert_eq!(progress.of("test/a", 2), None);
    assert_eq!(progress.steps, 5, "every attempt was spent");
}

#[test]
fn taking_a_result_back_changes_one_word() {
    let (_root, folder) = copy_of_golden();
    let before = fs::read_to_string(folder.trials_file()).unwrap();
    let latest = Progress::read(&folder)
        .unwrap()
        .of("files/greeting", 1)
        .unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    writer.withdraw(latest.final_at.unwrap()).unwrap();
    let (first, rest) = before.split_once('\n').unwrap();
    let first = first.replace("\"final\":true ,", "\"final\":false,");
    let after = fs::read_to_string(folder.trials_file()).unwrap();
    assert_eq!(after, format!("{first}\n{rest}"));
    let latest = Progress::read(&folder)
        .unwrap()
        .of("files/greeting", 1)
        .unwrap();
    assert_eq!((latest.outcome, latest.final_at), (None, None));
}

#[test]
fn only_a_result_can_be_taken_back() {
    let (_root, folder) = copy_of_golden();
    let before = fs::read(folder.trials_file()).unwrap();
    let writer = RunWriter::open(&folder).unwrap();
    for at in [0, 10, before.len() as u64 - 2, before.len() as u64 + 7] {
        assert!(writer.withdraw(at).is_err(), "{at}");
    }
    assert_eq!(fs::read(folder.trials_file()).unwrap(), before);
}

#[test]
fn of_two_results_the_later_one_counts_and_the_earlier_one_is_found() {
    let (_root, writer) = writer();
    let mut again = line("a", 1, 2, true);
    again.outcome = Outcome::Failed;
    // A process was killed after it had appended the second and before it took back the first.
    append(
        &writer,
        &[line("a", 1, 1, true), line("a", 2, 1, true), again.clone()],
    );
    let progress = Progress::read(writer.folder()).unwrap();
    let latest = progress.of("test/a", 1).unwrap();
    assert_eq!((latest.attempt, latest.outcome), (2, Some(Outcome::Failed)));
    assert_eq!(progress.stale.len(), 1);
    for at in progress.stale {
        writer.withdraw(at).unwrap();
    }
    assert_eq!(
        read(writer.folder()),
        [line("a", 1, 1, false), line("a", 2, 1, true), again]
    );
    assert!(Progress::read(writer.folder()).unwrap().stale.is_empty());
}

#[test]
fn a_reader_shows_one_result_of_a_trial_the_later_one() {
    let (_root, folder) = copy_of_golden();
    let reader = RunReader::open(folder.path()).unwrap();
    let of_it = |line: &TrialLine| line.task.id() == "greeting";
    let mut before = reader.trials().unwrap();
    before.retain(of_it);
    let seen = |lines: Vec<TrialLine>| -> Vec<TrialLine> { alone(lines.into_iter().filter(of_it)) };
    let old = before.iter().find(|line| line.is_final).unwrap();
    let mut again = old.clone();
    again.attempt += 1;
    let writer = RunWriter::open(&folder).unwrap();
    append(&writer, &[again.clone()]);
    let marked = seen(read(&folder));
    assert!(marked.len() == 2 && marked.iter().all(|line| line.is_final));
    let expected: Vec<TrialLine> = before
        .iter()
        .map(|line| TrialLine {
            is_final: line.is_final && line != old,
            ..line.clone()
        })
        .chain([again])
        .collect();
    assert_eq!(seen(reader.trials().unwrap()), expected);
    // The next run takes the earlier one back, which changes nothing of that.
    for at in Progress::read(&folder).unwrap().stale {
        writer.withdraw(at).unwrap();
    }
    assert_eq!(seen(read(&folder)), expected);
    assert_eq!(seen(reader.trials().unwrap()), expected);
}

#[test]
fn text_in_a_line_is_not_taken_for_its_fields() {
    let (_root, writer) = writer();
    let mut tricky = line("a", 1, 1, true);
    tricky.reason = "\"final\":true , they said, \"final\":true".to_owned();
    tricky.integrity = Some("final".to_owned());
    append(&writer, std::slice::from_ref(&tricky));
    let latest = Progress::read(writer.folder()).unwrap().of("test/a", 1);
    writer.withdraw(latest.unwrap().final_at.unwrap()).unwrap();
    tricky.is_final = false;
    append(&writer, std::slice::from_ref(&tricky));
    assert_eq!(read(writer.folder()), [tricky.clone(), tricky]);
    let latest = Progress::read(writer.folder()).unwrap().of("test/a", 1);
    assert_eq!(latest.and_then(|latest: Latest| latest.final_at), None);
}

#[test]
fn a_broken_line_is_told_with_its_place() {
    let (_root, folder) = copy_of_golden();
    let text = fs::read_to_string(folder.trials_file()).unwrap();
    let first = text.find('\n').unwrap() + 1;
    let broken = format!(
        "{}{}",
        &text[..first],
        text[first..].replacen("\"epoch\":1", "\"epoch\":-1", 1)
    );
    fs::write(folder.trials_file(), &broken).unwrap();
    let error = Progress::read(&folder).unwrap_err().to_string();
    assert!(error.contains(&format!("byte {first}:")), "{error}");
    assert_eq!(fs::read_to_string(folder.trials_file()).unwrap(), broken);
}

proptest! {
    /// Wherever the file was cut, what was whole counts, the rest does not, and going on gives a
    /// file of whole lines again.
    #[test]
    fn a_cut_anywhere_loses_at_most_the_line_it_hits(epochs in 1u32..12, cut in 0usize..6000) {
        let (root, writer) = writer();
        let lines: Vec<_> = (1..=epochs).map(|epoch| line("a", epoch, 1, true)).collect();
        append(&writer, &lines);
        drop(writer);
        let folder = RunFolder::at(root.path());
        let mut bytes = fs::read(folder.trials_file()).unwrap();
        bytes.truncate(bytes.len().saturating_sub(cut));
        fs::write(folder.trials_file(), &bytes).unwrap();
        let whole = bytes.iter().filter(|byte| **byte == b'\n').count();

        let progress = Progress::read(&folder).unwrap();
        let done = (1..=epochs).filter(|epoch| progress.of("test/a", *epoch).is_some());
        prop_assert_eq!(done.count(), whole);
        let writer = RunWriter::open(&folder).unwrap();
        let torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        prop_assert_eq!(writer.cut_torn_line(), torn);
        for epoch in (1..=epochs).filter(|epoch| progress.of("test/a", *epoch).is_none()) {
            writer.append_trial(&line("a", epoch, 1, true)).unwrap();
        }
        prop_assert_eq!(read(&folder), lines);
    }
}

#[test]
fn taking_back_many_final_marks_opens_no_further_files() {
    let (_root, writer) = writer();
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for epoch in 1..=300 {
        writer.append_trial(&line("a", epoch, 1, true)).unwrap();
    }
    let progress = Progress::read(writer.folder()).unwrap();
    for epoch in 1..=300 {
        let at = progress.of("test/a", epoch).unwrap().final_at.unwrap();
        writer.withdraw(at).unwrap();
    }
    assert!(open() <= before + 2, "{} open, {before} before", open());
    assert!(read(writer.folder()).iter().all(|line| !line.is_final));
}
