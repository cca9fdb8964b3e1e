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
