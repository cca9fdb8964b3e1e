//! Running, resuming and reporting, with the suite that ships.

use agon::core::verdict::Outcome;

use crate::support::{Bench, demo_suite, tasks_in};

const GREETING: &str = "\
name: Greeting
task: Write hello to greeting.txt.
checks: [{ type: file, path: greeting.txt, equals: \"hello\\n\" }]
solution: [{ action: run, command: echo hello > greeting.txt }]
";

#[test]
fn the_solution_passes_and_doing_nothing_fails() {
    let bench = Bench::new();
    let demo = demo_suite();
    let demo = demo.to_str().unwrap();
    for (agent, passed) in [("oracle", true), ("noop", false)] {
        let called = bench
            .call(&["run", demo, "--agent", agent, "--workers", "4", "--json"])
            .expect(0);
        let json = called.json();
        let count = tasks_in(&demo_suite()).len();
        assert_eq!(json["tasks"], count, "{json}");
        assert_eq!(
            json["passed"],
            if passed { count } else { 0 },
            "{}",
            called.stderr()
        );
        assert_eq!(json["faulted"], 0);
        assert_eq!(json["coverage"], 1.0);
        for key in [
            "run",
            "trials",
            "failed",
            "score",
            "score_floor",
            "weighted_score",
            "seconds",
        ] {
            assert!(json.get(key).is_some(), "{key} is missing: {json}");
        }
        assert_eq!(json["score_ci"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn the_same_command_goes_on_and_another_is_refused() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING), ("b", GREETING)]);
    bench.run(&["--agent", "oracle", "--seed", "1"]).expect(0);
    let first = bench.trials();
    bench.run(&["--agent", "oracle", "--seed", "1"]).expect(0);
    assert_eq!(bench.trials(), first, "finished trials are skipped");

    for (other, said) in [
        (["--agent", "noop", "--seed", "1"], "agent: oracle -> noop"),
        (["--agent", "oracle", "--seed", "2"], "seed: 1 -> 2"),
    ] {
        let refused = bench.run(&other).expect(2);
        assert!(refused.stderr().contains(said), "{}", refused.stderr());
    }
    bench.write("suite/test/a.yaml", &GREETING.replace("hello", "hallo"));
    let refused = bench.run(&["--agent", "oracle", "--seed", "1"]).expect(2);
    assert!(
        refused.stderr().contains("task test/a"),
        "{}",
        refused.stderr()
    );
    assert_eq!(bench.trials(), first, "nothing was touched");
}

#[test]
fn what_failed_can_be_played_again_and_says_so() {
    let bench = Bench::new();
    let flaky = "\
name: Flaky
task: Pass only the second time.
environment: { kind: none }
checks: [{ type: returned_result, equals: done }]
solution: [{ action: finish, result: done }]
";
    bench.suite(&[("a", flaky)]);
    bench.run(&["--agent", "noop"]).expect(0);
    bench
        .run(&["--agent", "noop", "--mode", "rerun-failed"])
        .expect(0);
    let trials = bench.trials();
    let finals: Vec<_> = trials.iter().filter(|line| line.is_final).collect();
    assert_eq!((trials.len(), finals.len()), (2, 1));
    assert_eq!(finals[0].attempt, 1, "the first verdict counts");
    assert!(trials[1].rerun && !finals[0].rerun);
}

#[test]
fn recorded_trials_are_graded_again_without_playing() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Passed);
    bench.write(
        "suite/test/a.yaml",
        &GREETING.replace("equals: \"hello", "equals: \"other"),
    );
    bench
        .run(&["--agent", "oracle", "--mode", "validate-only"])
        .expect(0);
    let again = bench.trial();
    assert_eq!(again.outcome, Outcome::Failed);
    assert!(again.rerun);
    assert_eq!(again.steps, 2, "what was played stays");
}

#[test]
fn a_score_under_the_threshold_is_status_3() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING)]);
    bench
        .run(&["--agent", "noop", "--fail-under", "0.5"])
        .expect(3);
    bench
        .run(&["--agent", "noop", "--fail-under", "0"])
        .expect(0);
}

#[test]
fn epochs_seeds_and_replay_agree() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING)]);
    bench
        .run(&["--agent", "random", "--epochs", "3", "--seed", "7"])
        .expect(0);
    let actions = |run: &str| {
        let reader = agon::store::RunReader::open(&bench.path(run)).unwrap();
        let mut all: Vec<_> = reader
            .trials()
            .unwrap()
            .iter()
            .map(|line| {
                let events = reader.events(line).unwrap();
                (line.epoch, agon::grade::Evidence::actions_of(events))
            })
            .collect();
        all.sort_by_key(|(epoch, _)| *epoch);
        all
    };
    let first = actions("run");
    let again = [
        "run", "suite", "--out", "again", "--agent", "random", "--epochs", "3",
    ];
    bench
        .call(&[&again[..], &["--seed", "7"]].concat())
        .expect(0);
    assert_eq!(
        actions("again"),
        first,
        "the same seed plays the same actions"
    );
    let replay = [
        "run",
        "suite",
        "--out",
        "replayed",
        "--agent",
        "replay:run",
        "--epochs",
        "3",
    ];
    bench.call(&replay).expect(0);
    assert_eq!(actions("replayed"), first);
}

#[test]
fn every_report_format_is_written() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    for (format, begins) in [
        ("table", "suite by oracle"),
        ("md", "# "),
        ("json", "{"),
        ("csv", ""),
        ("junit", "<?xml"),
        ("html", "<!doctype html>"),
    ] {
        let text = bench
            .call(&["report", "run", "--format", format])
            .expect(0)
            .stdout();
        assert!(
            text.contains("test") && text.trim_start().starts_with(begins),
            "{format}: {text}"
        );
    }
}

#[test]
fn listing_is_one_object_per_task_and_line() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING), ("b", GREETING)]);
    let listed = bench.call(&["list", "suite", "--json"]).expect(0).stdout();
    let rows: Vec<serde_json::Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2);
    for key in ["id", "category", "level", "name"] {
        assert!(rows[0].get(key).is_some(), "{key}");
    }
    bench.run(&["--dry-run"]).expect(0);
    assert!(!bench.path("run").exists(), "a dry run makes nothing");
}

const TALK: &str = "\
name: Talk
task: Say yes.
environment: { kind: none }
checks: [{ type: returned_result, equals: 'yes' }]
solution: [{ action: finish, result: 'yes' }]
";

#[test]
fn grading_again_counts_nothing_twice_and_numbers_on() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.run(&["--agent", "noop"]).expect(0);
    bench
        .run(&["--agent", "noop", "--mode", "rerun-failed"])
        .expect(0);
    for _ in 0..2 {
        bench
            .run(&["--agent", "noop", "--mode", "validate-only"])
            .expect(0);
    }
    let trials = bench.trials();
    let attempts: Vec<u32> = trials.iter().map(|line| line.attempt).collect();
    assert_eq!(attempts, [1, 2, 3, 4]);
    assert_eq!(trials.iter().filter(|line| line.is_final).count(), 1);
    let regraded: Vec<bool> = trials.iter().map(|line| line.regraded).collect();
    assert_eq!(regraded, [false, false, true, true]);
    // Two plays of one step each: a third step is left in a budget of three.
    let json = bench.run(&[
        "--agent",
        "noop",
        "--mode",
        "rerun-failed",
        "--budget-steps",
        "3",
    ]);
    json.expect(0);
    assert_eq!(bench.trials().len(), 5);
}

#[test]
fn verdicts_by_other_checks_are_told_and_not_mixed() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK), ("b", TALK)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    let stricter = TALK.replace("equals: 'yes'", "equals: 'no'");
    bench.write("suite/test/a.yaml", &stricter);
    // As if grading again had been killed after its first trial: the manifest is the old one.
    let manifest = std::fs::read(bench.path("run/run.json")).unwrap();
    bench
        .run(&["--agent", "oracle", "--mode", "validate-only"])
        .expect(0);
    std::fs::write(bench.path("run/run.json"), manifest).unwrap();
    let report = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(report.contains("Graded by other checks"), "{report}");
    bench.write("suite/test/a.yaml", TALK);
    let refused = bench.run(&["--agent", "oracle"]).expect(2);
    assert!(
        refused.stderr().contains("validate-only"),
        "{}",
        refused.stderr()
    );
    bench
        .run(&["--agent", "oracle", "--mode", "validate-only"])
        .expect(0);
    let healed = bench.run(&["--agent", "oracle"]).expect(0);
    assert_eq!(healed.json()["passed"], 2);
}

#[test]
fn a_crash_of_the_agent_is_said_where_the_failure_is() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK)]);
    bench.write("agent/broken.py", "import no_such_module\n");
    let called = bench
        .run(&["--agent", "cmd:python3 agent/broken.py"])
        .expect(0);
    let reason = bench.trial().reason;
    assert!(
        reason.contains("crashed") && reason.contains("no_such_module"),
        "{reason}"
    );
    assert!(
        called.stderr().contains("no_such_module"),
        "{}",
        called.stderr()
    );
    let refused = bench
        .call(&["run", "suite", "--agent", "cmd:python3 agent/brokn.py"])
        .expect(2);
    assert!(
        refused.stderr().contains("agent/brokn.py"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn an_agent_is_held_to_the_actions_it_declares() {
    let bench = Bench::new();
    bench.suite(&[("a", GREETING)]);
    let agent = r#"
import json, sys
answers = iter([
    {"action": "run", "command": "true", "uses": ["run", "finish"]},
    {"action": "write", "path": "greeting.txt", "content": "hello\n"},
    {"action": "finish"},
])
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        print(json.dumps(next(answers)), flush=True)
"#;
    bench.write("agent/declares.py", agent);
    bench
        .run(&["--agent", "cmd:python3 agent/declares.py"])
        .expect(0);
    let trial = bench.trial();
    assert_eq!((trial.outcome, trial.steps), (Outcome::Failed, 3));
    let events = bench.reader().events(&trial).unwrap();
    let refused = events
        .iter()
        .filter(|event| event.body.kind() == "refused")
        .count();
    assert_eq!(refused, 1);
}
