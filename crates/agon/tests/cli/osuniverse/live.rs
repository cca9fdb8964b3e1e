//! `agon run --results DIR`: files while the run goes on, and the original's rules for what is left to do.

use super::*;

fn run(bench: &Bench, args: &[&str]) -> Called {
    let mut all = vec![
        "run",
        "suite",
        "--results",
        "results",
        "--json",
        "--agent",
        "oracle",
    ];
    all.extend(args);
    bench.call(&all)
}

#[test]
fn files_stand_in_the_run_folder() {
    let bench = Bench::new();
    plain_suite(&bench);
    run(&bench, &["--retries", "0"]).expect(1);
    let results = bench.path("results");
    assert!(results.join("run.json").exists());
    assert!(!results.join("test/faulted.json").exists());
    let lines = read_by_python(&results);
    assert_eq!(lines.last().unwrap(), "weighted 5 of 6");
    // What was deleted or said in between is brought up to date by the next command.
    fs::remove_file(results.join("test/both.json")).unwrap();
    review(&results, "failed", "");
    run(&bench, &["--retries", "0"]).expect(1);
    assert_eq!(read_by_python(&results).last().unwrap(), "weighted 6 of 6");
}

/// Tasks of two categories that only have to be answered.
fn two_categories(bench: &Bench) {
    for name in ["desktop/a", "desktop/b", "terminal/c"] {
        let answer = if name == "desktop/b" {
            "wrong"
        } else {
            "right"
        };
        let task = format!(
            "name: A\ntask: Do.\nenvironment: {{ kind: none }}\nchecks: [{{ type: returned_result, equals: right }}]\nsolution: [{{ action: finish, result: {answer} }}]\n"
        );
        bench.write(&format!("suite/{name}.yaml"), &task);
    }
}

fn is_there(bench: &Bench, name: &str) -> bool {
    bench.path(&format!("results/{name}.json")).exists()
}

#[test]
fn each_command_says_what_of_the_folder_it_plays() {
    let bench = Bench::new();
    two_categories(&bench);
    let called = run(&bench, &["--category", "desktop"]).expect(0);
    assert_eq!(called.json()["trials"], 2);
    assert!(!is_there(&bench, "terminal/c"));
    // Wider: what is new comes to it.
    let called = run(&bench, &["--category", "desktop,terminal"]).expect(0);
    assert_eq!(called.json()["trials"], 3);
    assert!(is_there(&bench, "terminal/c"));
    // Narrower: nothing else is touched, and what is missing of it comes back as it was.
    let before = file(&bench.path("results/desktop/b.json"));
    fs::remove_file(bench.path("results/desktop/b.json")).unwrap();
    let only = ["--category", "terminal", "--mode", "rerun-failed"];
    let called = run(&bench, &only).expect(0);
    assert_eq!(called.json()["trials"], 3, "{}", called.stderr());
    assert_eq!(file(&bench.path("results/desktop/b.json")), before);
    assert_eq!(lines(&bench), 3, "what failed elsewhere was not played");
    let only = ["--category", "desktop", "--mode", "rerun-failed"];
    run(&bench, &only).expect(0);
    assert_eq!(lines(&bench), 4);
    // All of it, by its name alone.
    let args = ["run", "--resume", "results", "--mode", "rerun-failed"];
    bench.call(&args).expect(0);
    bench.call(&["validate", "results"]).expect(0);
    assert_eq!(lines(&bench), 8);
    // The rest of what the run is stays fixed.
    for other in [["--seed", "7"], ["--max-steps", "3"], ["--epochs", "2"]] {
        let called = run(&bench, &other).expect(2);
        assert!(
            called.stderr().contains("another run"),
            "{}",
            called.stderr()
        );
    }
}

/// Attempts and gradings so far.
fn lines(bench: &Bench) -> usize {
    let text = fs::read_to_string(bench.path("results/trials.jsonl")).unwrap();
    text.lines().count()
}

#[test]
fn what_somebody_else_broke_is_written_again() {
    let bench = Bench::new();
    two_categories(&bench);
    run(&bench, &[]).expect(0);
    let whole = file(&bench.path("results/desktop/a.json"));
    bench.write("results/desktop/a.json", "{\"broken");
    run(&bench, &[]).expect(0);
    assert_eq!(file(&bench.path("results/desktop/a.json")), whole);
}

#[test]
fn a_category_that_is_called_like_a_part_of_run_folders_is_refused() {
    let bench = Bench::new();
    let task = "name: A\ntask: Do.\nenvironment: { kind: none }\nchecks: [{ type: returned_result, equals: x }]\n";
    bench.write("suite/blobs/a.yaml", task);
    let called = run(&bench, &[]).expect(2);
    assert!(called.stderr().contains("`blobs`"), "{}", called.stderr());
    assert!(!bench.path("results").exists());
}

/// As the original leaves them.
fn old_results(bench: &Bench) {
    plain_suite(bench);
    for (id, ai, human) in [
        ("passed", 1.0, -1.0),
        ("failed", 0.0, 1.0),
        ("both", 1.0, 0.0),
    ] {
        let text = serde_json::json!({
            "id": id, "category": "test", "task": "x", "ai_score": ai, "human_score": human,
        });
        bench.write(&format!("results/test/{id}.json"), &text.to_string());
    }
}

fn played(called: &Called) -> u64 {
    called.json()["trials"].as_u64().unwrap()
}

#[test]
fn what_the_original_has_played_is_not_played_again() {
    let bench = Bench::new();
    old_results(&bench);
    // The same command goes on with the same run.
    for _ in 0..2 {
        let called = run(&bench, &["--retries", "0"]).expect(1);
        assert_eq!(
            played(&called),
            1,
            "only what has no file: {}",
            called.stderr()
        );
        let passed = file(&bench.path("results/test/passed.json"));
        assert_eq!(passed["task"], "x", "it is left alone");
    }
}

#[test]
fn what_failed_there_can_be_asked_for_later() {
    let bench = Bench::new();
    old_results(&bench);
    let called = run(&bench, &["--retries", "0"]).expect(1);
    assert_eq!(played(&called), 1);
    let again = ["--retries", "0", "--mode", "rerun-failed"];
    let called = run(&bench, &again).expect(1);
    assert_eq!(played(&called), 2, "{}", called.stderr());
    let both = file(&bench.path("results/test/both.json"));
    assert_eq!(both["ai_score"], 1.0);
    // From now on it belongs to the run.
    let called = run(&bench, &["--retries", "0"]).expect(1);
    assert_eq!(played(&called), 2, "{}", called.stderr());
}

#[test]
fn a_file_that_is_torn_counts_as_none() {
    let bench = Bench::new();
    old_results(&bench);
    bench.write("results/test/passed.json", "{torn");
    let called = run(&bench, &["--retries", "0"]).expect(1);
    let told = called.stderr();
    assert!(told.contains("test/passed.json"), "{told}");
    assert!(told.contains("counts as none"), "{told}");
    assert_eq!(played(&called), 2);
    let passed = file(&bench.path("results/test/passed.json"));
    assert_eq!(passed["ai_score"], 1.0);
}

#[test]
fn what_failed_there_is_played_again_if_that_is_asked_for() {
    let bench = Bench::new();
    old_results(&bench);
    let called = run(&bench, &["--retries", "0", "--mode", "rerun-failed"]).expect(1);
    assert_eq!(
        played(&called),
        2,
        "a person's no counts as well: {}",
        called.stderr()
    );
    let both = file(&bench.path("results/test/both.json"));
    assert_eq!(
        (&both["ai_score"], &both["human_score"]),
        (&1.0.into(), &(-1.0).into())
    );
}
