//! The suites for agents that program, answer and ask: every solution passes, doing nothing passes none, and
//! neither does what only looks like a solution.

use std::fs;
use std::path::{Path, PathBuf};

use agon::core::EventBody;
use agon::core::verdict::Outcome;

use crate::support::Bench;

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites")
}

/// Played by an agent that does nothing and by one that knows the solutions.
#[track_caller]
fn holds(suite: &str, tasks: usize) {
    let bench = Bench::new();
    let path = suites().join(suite);
    let linted = bench
        .call(&["lint", path.to_str().unwrap(), "--workers", "2"])
        .expect(0);
    let expected = format!("{tasks} tasks read, {tasks} played: 0 errors, 0 warnings");
    assert!(linted.stderr().contains(&expected), "{}", linted.stderr());
}

/// Needs rustc, gcc, node and git in /usr: see the packages that `cargo xtask test` installs.
#[test]
fn heavy_the_bugfix_suite_holds() {
    holds("bugfix", 14);
}

#[test]
fn the_qa_suite_holds() {
    holds("qa", 50);
}

#[test]
fn the_dialogue_suite_holds() {
    holds("dialogue", 10);
}

/// Whatever is right about the files and the result: who never asked has guessed.
#[test]
fn a_dialogue_can_not_be_passed_without_asking() {
    let bench = Bench::new();
    copy(&suites().join("dialogue"), &bench.path("suite"), &|text| {
        text.lines()
            .filter(|line| !line.starts_with("  - { action: message, text:"))
            .map(|line| format!("{line}\n"))
            .collect()
    });
    bench.run(&["--agent", "oracle"]).expect(0);
    let trials = bench.trials();
    assert_eq!(trials.len(), 10);
    for trial in trials {
        assert_eq!(trial.outcome, Outcome::Failed, "{:?}", trial.task);
    }
}

/// One for every task: a repair that makes the report's first example work, and misses the rest.
#[test]
fn heavy_half_a_repair_passes_no_hidden_test() {
    let bench = Bench::new();
    copy(
        &suites().join("bugfix"),
        &bench.path("suite"),
        &str::to_owned,
    );
    let repairs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/half_repairs");
    let mut tasks = 0;
    for category in fs::read_dir(bench.path("suite")).unwrap() {
        let category = category.unwrap().path();
        if !category.is_dir() {
            continue;
        }
        for task in fs::read_dir(&category).unwrap() {
            let task = task.unwrap().path();
            let name = format!("{}.sh", task.file_name().unwrap().to_str().unwrap());
            let repair = repairs.join(category.file_name().unwrap()).join(name);
            fs::copy(&repair, task.join("solution/solve.sh")).unwrap();
            tasks += 1;
        }
    }
    assert_eq!(tasks, 14);
    bench
        .run(&["--agent", "oracle", "--workers", "2"])
        .expect(0);
    let reader = bench.reader();
    for trial in bench.trials() {
        assert_eq!(trial.outcome, Outcome::Failed, "{:?}", trial.task);
        // It is a program that was built and ran: the hidden test says what is wrong with it.
        assert!(!trial.reason.contains("does not build"), "{}", trial.reason);
        let events = reader.events(&trial).unwrap();
        let patch = events.iter().any(|event| {
            matches!(&event.body, EventBody::Kept(kept) if kept.what == "patch" && kept.bytes > 0)
        });
        assert!(patch, "{:?}: nothing was repaired at all", trial.task);
    }
}

/// The whole tree; YAML goes through `edit`.
fn copy(from: &Path, to: &Path, edit: &dyn Fn(&str) -> String) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target, edit);
        } else if target.extension().is_some_and(|ending| ending == "yaml") {
            let text = fs::read_to_string(entry.path()).unwrap();
            fs::write(&target, edit(&text)).unwrap();
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}
