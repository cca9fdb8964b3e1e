//! The desktop suite that ships with Agon, in the images that `cargo xtask test` makes: every solution
//! passes, and doing nothing passes none. What single desktop tasks can do is not tested here.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Bench, tasks_in};

const LEVELS: [&str; 5] = ["PAPER", "WOOD", "BRONZE", "SILVER", "GOLD"];
const CATEGORIES: [&str; 10] = [
    "browser",
    "calculator",
    "desktop",
    "editor",
    "file_manager",
    "games",
    "multiapp",
    "spreadsheet",
    "terminal",
    "word_processor",
];

fn suite() -> String {
    format!("{}/../../suites/desktop", env!("CARGO_MANIFEST_DIR"))
}

/// Its tasks by `category/id`, as its files have them.
fn tasks() -> BTreeMap<String, String> {
    tasks_in(suite().as_ref())
}

/// One of every kind of program: those that need little time.
const FEW: [&str; 10] = [
    "browser/follow_a_link",
    "calculator/add",
    "desktop/close_a_window",
    "editor/write_a_note",
    "file_manager/make_a_folder",
    "games/one_move",
    "multiapp/terminal_to_editor",
    "spreadsheet/fill_a_cell",
    "terminal/type_a_command",
    "word_processor/write_a_line",
];

/// Plays all of it.
fn played_by(agent: &str) -> Value {
    played(agent, &[])
}

/// Plays those of the `tasks`.
fn few_played_by(agent: &str, tasks: &[&str]) -> Value {
    let named: Vec<String> = tasks
        .iter()
        .map(|task| task.split_once('/').unwrap())
        .map(|(category, id)| format!("(category({category}) and id({id}))"))
        .collect();
    played(agent, &["--filter", &named.join(" or ")])
}

/// Plays what `words` select, with two trials at a time and without a second try.
fn played(agent: &str, words: &[&str]) -> Value {
    if std::env::var_os("DOCKER_HOST").is_none() {
        panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`");
    }
    let bench = Bench::new();
    let suite = suite();
    let mut args = vec![
        "run",
        &suite,
        "--agent",
        agent,
        "--out",
        "played",
        "--workers",
        "2",
        "--retries",
        "0",
        "--image",
        "agon-desktop:12=agon-test-desktop:1",
        "--image",
        "agon-desktop-office:12=agon-test-desktop-office:1",
        "--json",
    ];
    args.extend(words);
    bench.call(&args).expect(0).json()
}

#[test]
fn container_office_heavy_a_task_of_every_kind_is_passed_by_its_solution() {
    let told = few_played_by("oracle", &FEW);
    assert_eq!(told["trials"], FEW.len(), "{told}");
    assert_eq!(told["passed"], told["trials"], "{told}");
}

#[test]
fn container_office_heavy_a_few_tasks_are_failed_by_doing_nothing() {
    // Of both images.
    let few = [
        "calculator/add",
        "spreadsheet/fill_a_cell",
        "terminal/type_a_command",
    ];
    let told = few_played_by("noop", &few);
    assert_eq!(told["trials"], few.len(), "{told}");
    assert_eq!(told["failed"], told["trials"], "{told}");
}

#[test]
fn container_office_heavy_long_form_the_whole_suite_is_passed_by_its_solutions() {
    let told = played_by("oracle");
    assert_eq!(told["trials"], tasks().len(), "{told}");
    assert_eq!(told["passed"], told["trials"], "{told}");
}

#[test]
fn container_office_heavy_long_form_the_whole_suite_is_failed_by_doing_nothing() {
    let told = played_by("noop");
    assert_eq!(told["trials"], tasks().len(), "{told}");
    assert_eq!(told["failed"], told["trials"], "{told}");
}

#[test]
fn the_suite_has_every_kind_of_program_and_every_level() {
    let bench = Bench::new();
    let suite = suite();
    let lint = ["lint", "--static", "--json", &suite];
    let findings = bench.call(&lint).expect(0).stdout();
    assert!(!findings.contains("severity"), "{findings}");
    let listed = bench.call(&["run", &suite, "--dry-run"]).expect(0).stdout();
    let mut listed: Vec<_> = listed
        .lines()
        .map(|line| line.splitn(4, " / ").collect::<Vec<_>>())
        .map(|parts| (format!("{}/{}", parts[1], parts[2]), parts[0].to_owned()))
        .collect();
    listed.sort();
    let level = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("level: "));
        line.unwrap().to_uppercase()
    };
    let tasks = tasks().into_iter();
    let tasks: Vec<_> = tasks.map(|(id, text)| (id, level(&text))).collect();
    assert_eq!(listed, tasks);

    let mut kinds: Vec<_> = tasks
        .iter()
        .map(|(id, _)| id.split('/').next().unwrap())
        .collect();
    for category in CATEGORIES {
        let count = kinds.iter().filter(|kind| **kind == category).count();
        assert!(count >= 4, "{category}: {tasks:?}");
    }
    kinds.dedup();
    assert_eq!(kinds, CATEGORIES);
    for level in LEVELS {
        let count = tasks.iter().filter(|(_, of)| of == level).count();
        assert!(count >= 5, "{level}: {tasks:?}");
    }
}
