//! Run folders to test with.

use std::path::{Path, PathBuf};

use agon_core::{Digest, Fault, FaultClass, TaskId, TrialId, Verdict};
use agon_store::{EventsAt, RunFolder, RunWriter, TrialLine};
use tempfile::TempDir;

/// A run folder that a past version wrote, kept as it was.
pub(crate) fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1")
}

/// The same of a trial on a desktop.
pub(crate) fn golden_desktop() -> PathBuf {
    golden().with_file_name("format-1-desktop")
}

/// The same of a trial that asked models.
pub(crate) fn golden_models() -> PathBuf {
    golden().with_file_name("format-1-models")
}

/// A copy of the golden folder that may be changed.
pub(crate) fn copy_of_golden() -> (TempDir, RunFolder) {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &target);
            } else {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let root = tempfile::tempdir().unwrap();
    copy(&golden(), root.path());
    let folder = RunFolder::at(root.path());
    (root, folder)
}

/// An empty folder and a writer to it.
pub(crate) fn writer() -> (TempDir, RunWriter) {
    let root = tempfile::tempdir().unwrap();
    let writer = RunWriter::open(&RunFolder::at(root.path())).unwrap();
    (root, writer)
}

pub(crate) fn task(id: &str) -> TaskId {
    TaskId::parse(&format!("test/{id}")).unwrap()
}

pub(crate) fn line(id: &str, epoch: u32, attempt: u32, is_final: bool) -> TrialLine {
    let verdict = Verdict {
        passed: true,
        score: 1.0,
        checks: Vec::new(),
    };
    let line = ended(id, epoch, attempt, Ok(&verdict));
    TrialLine { is_final, ..line }
}

fn ended(id: &str, epoch: u32, attempt: u32, result: Result<&Verdict, &Fault>) -> TrialLine {
    let task = task(id);
    let events = EventsAt {
        file: "trials/segments/000001.jsonl".to_owned(),
        at: 0,
        bytes: 0,
        verdict: None,
    };
    let key = Digest::of(id.as_bytes());
    let at = "2026-11-15T12:00:00Z".parse().unwrap();
    TrialLine {
        steps: 1,
        ..TrialLine::new(TrialId { task, epoch }, attempt, result, events, key, at)
    }
}

pub(crate) fn faulted(id: &str, epoch: u32, attempt: u32, class: FaultClass) -> TrialLine {
    let fault = Fault::new(class, "the disk is gone");
    ended(id, epoch, attempt, Err(&fault))
}
