//! A report reads a real run folder, whole or torn.

use std::fs;

use agon_report::{Caveat, CaveatKind, Format, RunReport, render};
use agon_store::RunReader;

use crate::fixture::troubled;

#[test]
fn a_run_folder_reports_as_its_lines_do_and_a_torn_line_is_a_missing_trial() {
    let (mut manifest, mut lines) = troubled();
    manifest.plan = manifest.plan_digest();
    for line in &mut lines {
        line.events.bytes = 0;
    }
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
    let mut read = RunReport::new(reader.manifest(), &reader).unwrap();
    // They have no digests, and the report says so.
    let record_of = read.summary.record.take().unwrap();
    assert_eq!(record_of.findings, [""; 0]);
    assert_eq!(record_of.without_digest, lines.len() as u64);
    let told = read.summary.caveats.iter();
    let told = told.filter(|caveat| caveat.kind == CaveatKind::WithoutDigest);
    assert_eq!(told.count(), 1);
    let other = |caveat: &Caveat| caveat.kind != CaveatKind::WithoutDigest;
    read.summary.caveats.retain(other);
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
