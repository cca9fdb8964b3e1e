//! The desktop suite that ships with Agon, in the images that `cargo xtask test` makes: every solution
//! passes, and doing nothing passes none. What single desktop tasks can do is not tested here.

use serde_json::Value;

use crate::support::Bench;

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

/// Plays all of it, with two trials at a time and without a second try.
fn played_by(agent: &str) -> Value {
    if std::env::var_os("DOCKER_HOST").is_none() {
        panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`");
    }
    let bench = Bench::new();
    let suite = suite();
    let args = [
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
    bench.call(&args).expect(0).json()
}

#[test]
fn container_office_heavy_the_whole_suite_is_passed_by_its_solutions() {
    let told = played_by("oracle");
    let trials = told["trials"].as_u64().unwrap();
    assert!(trials >= 38, "{told}");
    assert_eq!(told["passed"], trials, "{told}");
}

#[test]
fn container_office_heavy_the_whole_suite_is_failed_by_doing_nothing() {
    let told = played_by("noop");
    assert_eq!(told["passed"], 0, "{told}");
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
    let tasks = |part: &str| listed.lines().filter(|line| line.contains(part)).count();
    for category in CATEGORIES {
        assert!(
            tasks(&format!(" / {category} / ")) >= 4,
            "{category}: {listed}"
        );
    }
    for level in LEVELS {
        assert!(tasks(&format!("{level} / ")) >= 5, "{level}: {listed}");
    }
}
