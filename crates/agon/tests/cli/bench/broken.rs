//! Instances that can't be played: they don't end the run, and the next command takes them up again.

use serde_json::{Value, json};

use super::told;
use crate::scripted::rows;
use crate::support::Bench;

const LEAF: &str = "turns_hello_maxiter_8";

#[test]
fn one_bad_instance_does_not_end_the_run_and_is_played_again() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("bad", "hello"), ("c", "hello")]);
    bench.write("words/initialize.sh.j2", "[ '{{ instance_id }}' != bad ]\n");
    let model = bench.says_hello();
    let args = ["-l", &model, "--retries", "1"];
    let called = bench.bench_run(&args).expect(1);
    assert_eq!(called.json()["passed"], 2, "{}", called.stderr());
    let file = bench.results(LEAF).join("output.jsonl");
    let first = rows(&file);
    let resolved = |rows: &[Value]| told(rows, "/test_result/resolved");
    let is = |id: &str, value: Value| (id.to_owned(), value);
    let bad = first
        .iter()
        .find(|row| row["instance_id"] == "bad")
        .unwrap();
    assert_eq!(bad["test_result"], json!({}), "a fault is no result");
    assert!(
        bad["error"]
            .as_str()
            .unwrap()
            .starts_with("AgentRuntimeError"),
        "{bad}"
    );
    assert_eq!(
        resolved(&first),
        [
            is("a", json!(true)),
            is("bad", Value::Null),
            is("c", json!(true))
        ]
    );

    let called = bench.bench_run(&args).expect(1);
    assert!(
        called.stderr().contains("1 trial to play, 2 done before"),
        "{}",
        called.stderr()
    );
    assert_eq!(
        resolved(&rows(&file)),
        resolved(&first),
        "one row each, as before"
    );
}

/// It would only cost money.
#[test]
fn what_nobody_can_grade_is_not_played() {
    let bench = Bench::new();
    bench.words(&[("a", "hello")]);
    let model = bench.says_hello();
    for evaluate in ["", "[evaluate]\nchecks = []\n"] {
        bench.write(
            "words/benchmark.toml",
            &format!("name = 'Words'\n{evaluate}"),
        );
        for args in [
            &["bench", "run", "words", "-l", &model][..],
            &["lint", "words"],
        ] {
            let called = bench.call(args).expect(2);
            let said = called.stderr();
            assert!(said.contains("no way to grade"), "{args:?}: {said}");
            assert!(said.contains("evaluate.py"), "{args:?}: {said}");
        }
    }
    bench.suite(&[("open", "task: Do it.\n")]);
    let called = bench
        .call(&["bench", "run", "suite", "-l", &model])
        .expect(2);
    assert!(
        called.stderr().contains("test/open can't be graded"),
        "{}",
        called.stderr()
    );
    assert!(!bench.path("evaluation").exists(), "nothing was begun");
}

/// A template asks for a field that one row lacks.
#[test]
fn a_row_that_is_wrong_is_the_fault_of_one_instance() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("c", "hello")]);
    let file = bench.path("words/dataset.jsonl");
    let rows_before = std::fs::read_to_string(&file).unwrap();
    let bad = json!({ "instance_id": "owner/bad", "expected": "hello" });
    std::fs::write(&file, format!("{rows_before}\n{bad}\n")).unwrap();
    let model = bench.says_hello();
    let chosen = ["-l", &model, "--eval-ids", "a", "--out", "chosen"];
    assert_eq!(bench.bench_run(&chosen).expect(0).json()["passed"], 1);
    let called = bench.bench_run(&["-l", &model]).expect(1);
    let json = called.json();
    assert_eq!((&json["passed"], &json["faulted"]), (&json!(2), &json!(1)));
    let rows = rows(&bench.results(LEAF).join("output.jsonl"));
    let bad = rows.iter().find(|row| row["instance_id"] == "owner/bad");
    let bad = bad.unwrap_or_else(|| panic!("{rows:?}"));
    let error = bad["error"].as_str().unwrap();
    assert!(error.contains("instruction.md.j2:1:"), "{error}");
    assert_eq!(bad["test_result"], json!({}));
    assert_eq!(bad["metrics"]["accumulated_cost"], 0.0);
    let linted = bench.call(&["lint", "words", "--static"]).expect(2);
    assert!(
        linted.stdout().contains("words/owner_bad: can't be played"),
        "{}",
        linted.stdout()
    );
    // If it is every row, it is the benchmark.
    bench.write(
        "words/dataset.jsonl",
        "{\"instance_id\": \"b\", \"expected\": \"x\"}\n",
    );
    bench.bench_run(&["-l", &model, "--out", "every"]).expect(2);
}

#[test]
fn a_model_that_was_down_is_asked_again_by_the_next_command() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "hello")]);
    let model = bench.says_hello();
    let good = std::fs::read_to_string(bench.path("hello")).unwrap();
    let fault = json!({ "fault": "network", "why": "no route", "retry_after": 0 });
    bench.write("hello", &fault.to_string());
    let args = ["-l", &model, "--retries", "0"];
    let called = bench.bench_run(&args).expect(1);
    assert_eq!(called.json()["faulted"], 2);
    let file = bench.results(LEAF).join("output.jsonl");
    for (id, error) in told(&rows(&file), "/error") {
        assert!(
            error.as_str().unwrap().contains("no route"),
            "{id}: {error}"
        );
    }
    bench.write("hello", &good);
    bench.bench_run(&args).expect(0);
    let rows = rows(&file);
    assert_eq!(rows.len(), 2, "faults have given way to results");
    for (id, resolved) in told(&rows, "/test_result/resolved") {
        assert_eq!(resolved, true, "{id}");
    }
}

#[test]
fn every_epoch_has_a_row_whatever_became_of_the_others() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "hello")]);
    let model = bench.says_hello();
    let good = std::fs::read_to_string(bench.path("hello")).unwrap();
    bench.write("hello", &json!({ "fault": "authentication" }).to_string());
    let args = ["-l", &model, "--retries", "0", "--epochs", "3"];
    let file = bench.results(LEAF).join("output.jsonl");
    bench.bench_run(&args).expect(1);
    assert_eq!(rows(&file).len(), 6);
    bench.write("hello", &good);
    bench.bench_run(&args).expect(0);
    let rows = rows(&file);
    assert_eq!(rows.len(), 6);
    assert!(
        rows.iter()
            .all(|row| row["test_result"]["resolved"] == true)
    );
    let log = bench
        .results(LEAF)
        .join("infer_logs/instance_b_epoch_3.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("result of words/b: passed"), "{log}");
}

#[test]
fn an_agent_that_brings_its_sandbox_down_only_fails_itself() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "die")]);
    let agent = r#"
import json, sys
step = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        dies = "die" in message["task"]["instruction"]
    elif message["type"] == "observation":
        step += 1
        command = "kill -9 -1" if dies else "echo hello > out.txt"
        print(json.dumps({"action": "run", "command": command} if step == 1 else {"action": "finish"}), flush=True)
"#;
    bench.write("agent/dies.py", agent);
    let args = ["-c", "cmd:python3 agent/dies.py", "--out", "out"];
    let called = bench.bench_run(&args).expect(0);
    assert_eq!(called.json()["passed"], 1, "{}", called.stderr());
    let rows = rows(&bench.path("out/output.jsonl"));
    assert_eq!(
        told(&rows, "/test_result/resolved"),
        [
            ("a".to_owned(), json!(true)),
            ("b".to_owned(), json!(false))
        ]
    );
}

#[test]
fn tasks_of_two_categories_with_one_id_keep_their_rows_apart() {
    let bench = Bench::new();
    for (category, word) in [("left", "hello"), ("right", "world")] {
        let task = format!(
            "task: Write {word} to out.txt.\nchecks: [{{ type: file, path: out.txt, equals: \"{word}\\n\" }}]\n"
        );
        bench.write(&format!("words/{category}/1.yaml"), &task);
    }
    let model = bench.says_hello();
    bench.bench_run(&["-l", &model, "--out", "out"]).expect(0);
    let folder = bench.path("out");
    assert_eq!(
        told(&rows(&folder.join("output.jsonl")), "/test_result/resolved"),
        [
            ("left/1".to_owned(), json!(true)),
            ("right/1".to_owned(), json!(false))
        ]
    );
    assert!(folder.join("infer_logs/instance_right__1.log").is_file());
}
