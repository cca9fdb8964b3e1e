//! Result files and runners of desktop test cases, as a user of OSUniverse meets them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon::core::TaskId;
use agon::store::{Review, ReviewVerdict, RunFolder};
use serde_json::Value;

use crate::support::{Bench, Called};

#[path = "osuniverse/export.rs"]
mod export;
#[path = "osuniverse/live.rs"]
mod live;
#[path = "osuniverse/runner.rs"]
mod runner;
#[path = "osuniverse/whose.rs"]
mod whose;

/// A program that was written against the original's schema and nothing else.
const READER: &str = include_str!("osuniverse/reader.py");

/// What such a program says of a folder of results, a line per case in the order of their names.
#[track_caller]
fn read_by_python(folder: &Path) -> Vec<String> {
    let mut command = Command::new("python3");
    command.args(["-I", "-c", READER]).arg(folder);
    let called = Called(command.output().unwrap()).expect(0);
    called.stdout().lines().map(str::to_owned).collect()
}

#[track_caller]
fn file(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

/// A person says that the first attempt at a case of the suite passed.
fn review(run: &Path, id: &str, comment: &str) {
    let review = Review {
        at: "2026-11-15T12:00:00Z".parse().unwrap(),
        task: TaskId::new("test", id).unwrap(),
        epoch: 1,
        attempt: 1,
        verdict: ReviewVerdict::Pass,
        comment: comment.to_owned(),
        reviewer: "ada".to_owned(),
    };
    review.append(&RunFolder::at(run)).unwrap();
}

/// The example that ships with Agon.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python/runner.py")
}

/// Tasks that need nothing but a folder.
fn plain_suite(bench: &Bench) {
    let task = |checks: &str, rest: &str| {
        format!(
            "name: A task\ntask: Write hello to a.txt.\nenvironment: {{ kind: local }}\n{rest}\nchecks:\n{checks}\n"
        )
    };
    let solution = "solution:\n  - { action: run, command: echo hello > a.txt }\n  - { action: finish, result: done }";
    let file = "  - { type: file, path: a.txt, equals: \"hello\\n\" }";
    let both = "  - { type: command_output, command: cat a.txt, contains: hello }\n  - { type: returned_result, equals: done }";
    bench.suite(&[
        ("passed", &task(file, &format!("level: silver\n{solution}"))),
        ("both", &task(both, solution)),
        (
            "failed",
            &task("  - { type: file, path: b.txt, exists: true }", solution),
        ),
        (
            "faulted",
            &task(file, &format!("setup_cmd: exit 3\n{solution}")),
        ),
    ]);
}
