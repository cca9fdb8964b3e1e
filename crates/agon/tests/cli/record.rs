//! What a run folder says against those who made it look better: by killing what looked bad, by playing again until
//! it passes, by editing files, by faults.

use std::fs;

use serde_json::Value;

use crate::killed::ground::Ground;
use crate::support::Bench;

const SLOW: &str = "\
name: Slow
task: Say done.
setup_cmd: sleep 600
checks: [{ type: file, path: a, equals: b }]
solution: [{ action: run, command: 'true' }]
";

const TALK: &str = "\
name: Talk
task: Say done.
environment: { kind: none }
checks: [{ type: returned_result, equals: done }]
solution: [{ action: finish, result: done }]
";

/// Right only once it has been asked before.
const FLAKY: &str = "\
import json, os, sys
for line in sys.stdin:
    if json.loads(line)['type'] == 'observation':
        result = 'done' if os.path.exists('asked') else 'not yet'
        open('asked', 'w').close()
        print(json.dumps({'action': 'finish', 'result': result}), flush=True)
";

fn report(bench: &Bench, format: &str) -> String {
    let args = ["report", "run", "--format", format];
    bench.call(&args).expect(0).stdout()
}

fn summary(bench: &Bench) -> Value {
    let report: Value = serde_json::from_str(&report(bench, "json")).unwrap();
    report["runs"][0]["summary"].clone()
}

fn rewrite(bench: &Bench, file: &str, from: &str, to: &str) {
    let path = bench.path(file);
    let text = fs::read_to_string(&path).unwrap();
    let forged = text.replacen(from, to, 1);
    assert_ne!(forged, text, "{text}");
    fs::write(path, forged).unwrap();
}

#[test]
fn an_attempt_that_was_killed_stays_in_every_report() {
    let bench = Bench::new();
    let mut ground = Ground::new(&bench);
    bench.suite(&[("slow", SLOW), ("talk", TALK)]);
    for _ in 0..2 {
        let mut run = ground.start(&["--agent", "oracle", "--workers", "2"]);
        let begun = bench.path("run/begun.jsonl");
        let named = |text: String| text.matches("test/slow").count();
        let before = fs::read_to_string(&begun).map_or(0, named);
        while fs::read_to_string(&begun).map_or(0, named) == before {
            assert!(!run.ends_within(std::time::Duration::from_millis(20)));
        }
        run.child.kill().unwrap();
        run.end();
    }
    let found = summary(&bench);
    assert!(
        found["marks"]["never_ended"].as_u64().unwrap() >= 2,
        "{found}"
    );
    let slow = &found["never_ended"].as_array().unwrap()[0];
    assert_eq!(slow["task"], "test/slow");
    assert_eq!(slow["attempts"], serde_json::json!([1, 2]));
    for format in ["table", "md", "json", "junit", "html"] {
        let text = report(&bench, format);
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("Begun and never ended"), "{format}: {text}");
    }
    let csv = report(&bench, "csv");
    let row = csv.lines().find(|row| row.contains("test/slow")).unwrap();
    assert!(row.contains(",missing,") && row.ends_with(",2,,"), "{row}");
    // An earlier process is not made up for by a later one that comes to its end.
    bench.write("suite/test/slow.yaml", &SLOW.replace("sleep 600", "true"));
    fs::remove_file(bench.path("run/run.json")).unwrap();
    bench
        .run(&["--agent", "oracle", "--retries", "0"])
        .expect(0);
    assert!(bench.trials().iter().any(|line| line.attempt == 3));
    assert_eq!(
        summary(&bench)["never_ended"][0]["attempts"],
        serde_json::json!([1, 2])
    );
}

#[test]
fn playing_again_what_failed_is_a_second_draw_and_the_first_counts() {
    let bench = Bench::new();
    bench.suite(&[("talk", TALK)]);
    bench.write("agent/flaky.py", FLAKY);
    let agent = ["--agent", "cmd-host:python3 agent/flaky.py"];
    bench.run(&agent).expect(0);
    let again = [&agent[..], &["--mode", "rerun-failed"]].concat();
    let called = bench.run(&again).expect(0);
    assert!(
        called.stderr().contains("the first verdict counts"),
        "{}",
        called.stderr()
    );
    let json = called.json();
    assert_eq!((&json["passed"], &json["failed"]), (&0.into(), &1.into()));
    let found = summary(&bench);
    assert_eq!(found["overall"]["score"], 0.0);
    assert_eq!(
        found["draws"],
        serde_json::json!({"trials": 1, "attempts": 1, "passed": 1})
    );
    for format in ["table", "md", "junit", "html"] {
        let text = report(&bench, format);
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("Played again after a verdict: 1 trial"),
            "{format}: {text}"
        );
    }
    // It has passed in a later draw: there is nothing to be learned from another.
    bench.run(&again).expect(0);
    assert_eq!(bench.trials().len(), 2);
}

#[test]
fn a_forged_run_folder_is_told() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK), ("b", TALK)]);
    bench.run(&["--agent", "noop"]).expect(0);
    assert_eq!(summary(&bench)["record"]["disagreements"], 0);
    rewrite(
        &bench,
        "run/trials.jsonl",
        "\"outcome\":\"failed\",\"score\":0.0",
        "\"outcome\":\"passed\",\"score\":1000.0",
    );
    let found = summary(&bench);
    assert_eq!(found["record"]["disagreements"], 2, "{found}");
    for format in ["table", "md", "junit", "html"] {
        let text = report(&bench, format);
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("The run folder does not agree with itself"),
            "{format}: {text}"
        );
        assert!(
            told.contains("and its events say failed with score 0"),
            "{format}: {text}"
        );
        assert!(
            told.contains("Scores outside of 0 to 1"),
            "{format}: {text}"
        );
    }
}

#[test]
fn tasks_that_were_cut_out_of_a_plan_are_told() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK), ("b", TALK)]);
    bench.run(&["--agent", "noop"]).expect(0);
    let path = bench.path("run/run.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    manifest["tasks"].as_array_mut().unwrap().pop();
    fs::write(&path, serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
    let table = report(&bench, "table");
    let told = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("another plan than the one that was begun"),
        "{table}"
    );
}

/// Grading again, reviews and going on are no forgeries.
#[test]
fn what_is_written_later_keeps_the_chain_whole() {
    let bench = Bench::new();
    bench.suite(&[("a", TALK), ("b", TALK)]);
    bench.run(&["--agent", "noop"]).expect(0);
    bench
        .run(&["--agent", "noop", "--mode", "rerun-failed"])
        .expect(0);
    bench
        .call(&["review", "run", "--task", "test/a", "--pass"])
        .expect(0);
    bench.write(
        "suite/test/b.yaml",
        &TALK.replace("equals: done", "equals: other"),
    );
    bench.call(&["validate", "run"]).expect(0);
    bench
        .run(&["--agent", "noop", "--mode", "rerun-failed"])
        .expect(0);
    let found = summary(&bench);
    assert_eq!(found["record"]["findings"], serde_json::json!([]));
    let lines = found["record"]["lines"].as_u64().unwrap();
    assert!(lines > 4, "{found}");
    assert_eq!(found["record"]["compared"], lines);
    assert_eq!(found["record"]["without_digest"], 0);
}

/// One task solved and three faulted on purpose is no 100 %.
#[test]
fn the_score_that_is_shown_first_counts_faults_as_0() {
    let bench = Bench::new();
    let faults = TALK.replace("environment: { kind: none }", "setup_cmd: exit 3");
    bench.suite(&[("a", TALK), ("b", &faults), ("c", &faults), ("d", &faults)]);
    let called = bench
        .run(&["--agent", "oracle", "--retries", "0"])
        .expect(1);
    let json = called.json();
    assert_eq!(
        (&json["score_floor"], &json["score"]),
        (&0.25.into(), &1.0.into())
    );
    let first = "25.0 % (faulted and missing trials as 0; coverage 25.0 %, 1 of 4 trials graded)";
    for format in ["table", "md"] {
        let text = report(&bench, format);
        // A table on a terminal breaks lines and sets columns apart.
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, behind) = told.split_once(first).unwrap_or_else(|| panic!("{text}"));
        let behind = behind.trim_start_matches([' ', '|']);
        assert!(behind.starts_with("without faults"), "{text}");
    }
}
