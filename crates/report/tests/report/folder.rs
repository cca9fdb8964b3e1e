//! A report reads a real run folder, whole or torn.

use std::fs;

use agon_report::{Format, RunReport, render};
use agon_store::RunReader;

use crate::fixture::troubled;

#[test]
fn a_run_folder_reports_as_its_lines_do_and_a_torn_line_is_a_missing_trial() {
    let (manifest, lines) = troubled();
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("run.json"),
        serde_json::to_vec(&manifest).unwrap(),
    )
    .unwrap();
    let mut record = String::new();
    for line in &lines {
        record += &serde_json::to_string(line).unwrap();
        record.push('\n');
    }
    let trials = folder.path().join("trials.jsonl");
    fs::write(&trials, &record).unwrap();

    let reader = RunReader::open(folder.path()).unwrap();
    let read = RunReport::new(reader.manifest(), &reader).unwrap();
    let kept = RunReport::new(&manifest, &lines).unwrap();
    assert_eq!(read.summary, kept.summary);
    assert_eq!(
        render(Format::Csv, &[read]).unwrap(),
        render(Format::Csv, &[kept]).unwrap()
    );

    fs::write(&trials, &record[..record.len() - 20]).unwrap();
    let torn = RunReport::new(reader.manifest(), &reader).unwrap();
    assert_eq!(torn.summary.overall.missing, 2);
}
