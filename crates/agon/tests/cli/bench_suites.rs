//! The suites for agents that program, answer and ask: every solution passes, doing nothing passes none, and
//! neither does what only looks like a solution.

use std::fs;
use std::path::{Path, PathBuf};

use agon::core::EventBody;
use agon::core::verdict::Outcome;

use crate::support::Bench;

/// One of every language of `suites/bugfix`.
const BUGS: [&str; 5] = [
    "c/lost_keys",
    "javascript/memo_async",
    "python/invoice_cents",
    "rust/version_order",
    "shell/rotate_names",
];

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites")
}

/// Played by an agent that does nothing and by one that knows the solutions.
#[track_caller]
fn holds(parts: &[&str], tasks: usize) {
    let bench = Bench::new();
    let paths: Vec<String> = parts
        .iter()
        .map(|part| suites().join(part).to_str().unwrap().to_owned())
        .collect();
    let mut words = vec!["lint", "--workers", "2"];
    words.extend(paths.iter().map(String::as_str));
    let linted = bench.call(&words).expect(0);
    let expected = format!("{tasks} tasks read, {tasks} played: 0 errors, 0 warnings");
    assert!(linted.stderr().contains(&expected), "{}", linted.stderr());
}

/// Needs rustc, gcc, node and git in /usr: see the packages that `cargo xtask test` installs.
#[test]
fn heavy_a_bug_of_every_language_holds() {
    let bugs = BUGS.map(|bug| format!("bugfix/{bug}"));
    holds(&bugs.each_ref().map(String::as_str), BUGS.len());
}

#[test]
fn heavy_long_form_the_bugfix_suite_holds() {
    holds(&["bugfix"], 14);
}

#[test]
fn the_qa_suite_holds() {
    holds(&["qa"], 50);
}

#[test]
fn the_dialogue_suite_holds() {
    holds(&["dialogue"], 10);
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
fn heavy_half_a_repair_of_every_language_passes_no_hidden_test() {
    half_repaired(|bug| BUGS.contains(&bug), BUGS.len());
}

#[test]
fn heavy_long_form_half_a_repair_passes_no_hidden_test() {
    half_repaired(|_| true, 14);
}

/// Those of the bugs that are `chosen`.
fn half_repaired(chosen: impl Fn(&str) -> bool, count: usize) {
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
            let bug = task.strip_prefix(bench.path("suite")).unwrap();
            if !chosen(bug.to_str().unwrap()) {
                fs::remove_dir_all(&task).unwrap();
                continue;
            }
            let repair = repairs.join(format!("{}.sh", bug.display()));
            fs::copy(&repair, task.join("solution/solve.sh")).unwrap();
            tasks += 1;
        }
    }
    assert_eq!(tasks, count);
    bench
        .run(&["--agent", "oracle", "--workers", "2"])
        .expect(0);
    let reader = bench.reader();
    let trials = bench.trials();
    assert_eq!(trials.len(), count);
    for trial in trials {
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
