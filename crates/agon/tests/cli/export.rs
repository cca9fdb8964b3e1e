//! Runs in other systems' forms, and old ones of theirs as runs.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::scripted::{keys, lines, rows};
use crate::support::{Bench, Called};

const LEAF: &str = "turns_hello_maxiter_8";

/// As a user of the original reads its results.
const READER: &str = r#"
import json, sys

folder = sys.argv[1]
with open(folder + "/metadata.json") as file:
    metadata = json.load(file)
print("agent", metadata["agent_class"], "of", metadata["dataset"], metadata["max_iterations"])
resolved = cost = 0
with open(folder + "/output.jsonl") as file:
    for line in file:
        row = json.loads(line)
        if row["error"] and not row["test_result"]:
            print(row["instance_id"], "error:", row["error"].split(":")[0])
            continue
        resolved += row["test_result"]["resolved"]
        cost += row["metrics"]["accumulated_cost"]
        history = row["history"]
        # Older scripts have pairs of an action and what it caused.
        if history and isinstance(history[0], list):
            history = [event for pair in history for event in pair]
        commands = [event["args"]["command"] for event in history if event.get("action") == "run"]
        outputs = {event["cause"]: event for event in history if event.get("observation") == "run"}
        for event in history:
            if event.get("action") == "run":
                seen = outputs[event["id"]]
                assert seen["extras"]["command"] == event["args"]["command"], seen
                assert seen["extras"]["metadata"]["exit_code"] == 0, seen
        finished = [event for event in history if event.get("action") == "finish"]
        print(row["instance_id"], row["test_result"]["resolved"], len(commands), len(finished), row["instance"] is not None)
        assert row["metadata"]["llm_config"]["model"], row["metadata"]
print("resolved", resolved, "cost", cost)
"#;

/// What such a program says of a folder.
#[track_caller]
fn read_by_python(bench: &Bench, folder: &str) -> Vec<String> {
    let mut command = Command::new("python3");
    command
        .args(["-I", "-c", READER, folder])
        .current_dir(bench.path("."));
    let called = Called(command.output().unwrap()).expect(0);
    let mut lines: Vec<String> = called.stdout().lines().map(str::to_owned).collect();
    // Rows stand in the order in which they ended.
    lines[1..].sort();
    lines
}

#[test]
fn programs_for_the_original_read_what_a_benchmark_leaves() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "world")]);
    let model = bench.says_hello();
    bench.bench_run(&["-l", &model]).expect(0);
    let folder = format!("out/Words/CodeActAgent/{LEAF}");
    let expected = [
        "agent CodeActAgent of Words 8",
        "a True 1 1 True",
        "b False 1 1 True",
        "resolved 1 cost 0.0",
    ];
    assert_eq!(read_by_python(&bench, &folder), expected);

    let export = [
        "export",
        &folder,
        "--format",
        "openhands",
        "--out",
        "exported",
    ];
    let written = bench.call(&export).expect(0).stdout();
    assert_eq!(written, "exported/metadata.json\nexported/output.jsonl\n");
    assert_eq!(read_by_python(&bench, "exported"), expected);
    for name in ["metadata.json", "output.jsonl"] {
        let there = lines(&bench.path(&folder).join(name));
        assert!(lines(&bench.path("exported").join(name)) == there, "{name}");
    }
    assert!(bench.path("exported/infer_logs/instance_a.log").is_file());
    let before = fs::read(bench.path("exported/output.jsonl")).unwrap();
    bench.call(&export).expect(0);
    assert!(fs::read(bench.path("exported/output.jsonl")).unwrap() == before);
}

/// Export and import are a way round: every epoch is a result, and the budget stays.
#[test]
fn an_imported_export_is_reported_as_its_run() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "world")]);
    let model = bench.says_hello();
    let args = ["-l", &model, "--epochs", "2", "-b", "3"];
    bench.bench_run(&args).expect(0);
    let folder = format!("out/Words/CodeActAgent/{LEAF}");
    let export = |run: &str, out: &str| {
        let args = ["export", run, "--format", "openhands", "--out", out];
        bench.call(&args)
    };
    export(&folder, "exported").expect(0);
    let there = lines(&bench.path(&folder).join("output.jsonl"));
    assert!(lines(&bench.path("exported/output.jsonl")) == there);
    let all = rows(&bench.path("exported/output.jsonl"));
    assert_eq!(all.len(), 4);
    assert!(
        all.iter()
            .all(|row| row["metrics"]["max_budget_per_task"] == 3.0)
    );

    let imported = bench.call(&["import", "exported"]).expect(0);
    let told = imported.stderr();
    assert!(told.contains("4 rows, 0 without a result"), "{told}");
    let run = imported.stdout().trim_end().to_owned();
    let overall = |run: &str| -> Value {
        let text = bench.call(&["report", run, "--json"]).expect(0).stdout();
        let report: Value = serde_json::from_str(&text).unwrap();
        let mut overall = report["runs"][0]["summary"]["overall"].clone();
        // A history does not tell what the harness did before and after.
        overall.as_object_mut().unwrap().remove("seconds").unwrap();
        overall
    };
    assert_eq!(overall(&folder), overall(&run));
    let table = bench.call(&["report", &run]).expect(0).stdout();
    assert!(table.contains("2 passed, 2 failed"), "{table}");
    assert!(!table.contains("Retried"), "{table}");
    // And once more: nothing is lost on the way.
    export(&run, "again").expect(0);
    assert!(rows(&bench.path("again/output.jsonl")) == all);
    // Neither the other run's files nor anybody's are overwritten.
    bench.write("foreign/output.jsonl", "mine\n");
    let refused = export(&folder, "foreign").expect(2).stderr();
    assert!(refused.contains("another --out"), "{refused}");
    let left = fs::read_to_string(bench.path("foreign/output.jsonl")).unwrap();
    assert_eq!(left, "mine\n");
}

#[test]
fn so_they_do_with_any_other_run() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "world")]);
    let model = bench.says_hello();
    let run = [
        "run", "words", "--agent", "codeact", "--model", &model, "--out", "run",
    ];
    bench.call(&run).expect(0);
    bench
        .call(&[
            "export",
            "run",
            "--format",
            "openhands",
            "--out",
            "exported",
        ])
        .expect(0);
    let expected = [
        "agent codeact of Words 8",
        "a True 1 1 True",
        "b False 1 1 True",
        "resolved 1 cost 0.0",
    ];
    assert_eq!(read_by_python(&bench, "exported"), expected);
    // The dataset is a convenience: without it, the rest is still told.
    fs::remove_dir_all(bench.path("words")).unwrap();
    bench
        .call(&["export", "run", "--format", "openhands", "--out", "later"])
        .expect(0);
    let told = read_by_python(&bench, "later");
    assert_eq!(told[1..3], ["a True 1 1 False", "b False 1 1 False"]);
}

#[test]
fn the_other_system_has_one_line_for_each_trial() {
    let bench = Bench::new();
    bench.words(&[("a", "hello"), ("b", "world")]);
    let model = bench.says_hello();
    bench.bench_run(&["-l", &model]).expect(0);
    let folder = format!("out/Words/CodeActAgent/{LEAF}");
    let export = [
        "export",
        &folder,
        "--format",
        "owa",
        "--out",
        "exported/deep",
    ];
    let written = bench.call(&export).expect(0).stdout();
    assert_eq!(written, "exported/deep/report.jsonl\n");
    let mut lines = rows(&bench.path("exported/deep/report.jsonl"));
    lines.sort_by_key(|line| line["task_id"].to_string());
    let text = fs::read_to_string(bench.path("exported/deep/report.jsonl")).unwrap();
    assert_eq!(
        keys(text.lines().next().unwrap()),
        ["task_id", "metrics", "notes"]
    );
    assert_eq!(lines[0]["task_id"], "words/a");
    assert_eq!(lines[0]["metrics"]["success"], true);
    assert_eq!(lines[1]["metrics"]["success"], false);
    assert_eq!(lines[1]["metrics"]["steps"], 2);
}

#[test]
fn what_is_not_there_is_told() {
    let bench = Bench::new();
    let refused = bench
        .call(&["export", "nothing", "--format", "owa", "--out", "x"])
        .expect(2);
    assert!(refused.stderr().contains("nothing"), "{}", refused.stderr());
    assert!(!bench.path("x").exists());
    fs::create_dir(bench.path("empty")).unwrap();
    let refused = bench.call(&["import", "empty"]).expect(2);
    assert!(
        refused.stderr().contains("no output.jsonl"),
        "{}",
        refused.stderr()
    );
    bench.write("old/broken/output.jsonl", "nonsense\n{}\n");
    let refused = bench.call(&["import", "old"]).expect(2);
    let told = refused.stderr();
    assert!(told.contains("output.jsonl holds no row"), "{told}");
    assert!(told.contains("line 1"), "{told}");
    assert!(!bench.path("runs").exists(), "nothing is left of it");
    // What stands beside it is taken over all the same.
    bench.write(
        "old/good/output.jsonl",
        "{\"instance_id\": 3}\nnonsense\n{\"instance_id\": 4}",
    );
    let refused = bench.call(&["import", "old"]).expect(2);
    let told = refused.stderr();
    assert!(told.contains("line 2 is left out"), "{told}");
    assert!(told.contains("2 rows, 2 without a result"), "{told}");
    assert!(told.contains("1 of 2 files"), "{told}");
    assert_eq!(fs::read_dir(bench.path("runs")).unwrap().count(), 1);
}

/// A command and its output, as the original wrote them years ago.
fn old_events() -> (Value, Value, Value) {
    let at = "2024-09-01T10:00:00.000000";
    let ask = json!({
        "id": 0, "timestamp": at, "source": "user", "message": "Write hello.", "action": "message",
        "args": { "content": "Write hello.", "images_urls": null, "wait_for_response": false },
    });
    let run = json!({
        "id": 1, "timestamp": at, "source": "agent", "message": "Running command: echo hello",
        "action": "run",
        "args": { "command": "echo hello", "thought": "I write it.", "blocking": false,
            "keep_prompt": true, "hidden": false, "confirmation_state": "confirmed" },
    });
    let seen = json!({
        "id": 2, "timestamp": at, "source": "agent", "message": "Command `echo hello` executed with exit code 0.",
        "cause": 1, "observation": "run", "content": "hello",
        "extras": { "command_id": 7, "command": "echo hello", "exit_code": 0, "hidden": false, "interpreter_details": "" },
    });
    (ask, run, seen)
}

#[test]
fn old_results_become_runs_that_reports_take() {
    let bench = Bench::new();
    let metadata = json!({
        "agent_class": "CodeActAgent",
        "llm_config": { "model": "openai/gpt-4o", "api_key": "******" },
        "max_iterations": 30,
        "eval_output_dir": "evaluation/evaluation_outputs/outputs/old/CodeActAgent/gpt-4o_maxiter_30",
        "start_time": "2024-09-01 10:00:00",
        "git_commit": "0123456789abcdef",
        "dataset": "old-bench",
        "data_split": null,
        "details": {},
    });
    let (ask, run, seen) = old_events();
    let nothing = json!({ "id": -1, "observation": "null", "content": "", "extras": {} });
    let metrics = json!({ "accumulated_cost": 0.25, "costs": [{ "model": "gpt-4o", "cost": 0.25, "timestamp": 1.0 }] });
    let row = |id: &str, result: Value, history: Value, error: Value| {
        json!({
            "instance_id": id, "test_result": result, "instruction": "Write hello.", "metadata": metadata,
            "history": history, "metrics": metrics, "error": error, "instance": { "instance_id": id },
        })
    };
    let rows = [
        row(
            "flat",
            json!({ "resolved": true }),
            json!([ask, run, seen]),
            Value::Null,
        ),
        row(
            "paired",
            json!({ "result": false }),
            json!([[ask, nothing], [run, seen]]),
            Value::Null,
        ),
        row(
            "reported",
            json!({ "report": { "resolved": true } }),
            json!([[run, seen]]),
            Value::Null,
        ),
        row(
            "lost",
            json!({}),
            Value::Null,
            json!("Timeout after 60 seconds"),
        ),
    ];
    let leaf = "outputs/old-bench/CodeActAgent/gpt-4o_maxiter_30";
    let text = rows.map(|row| row.to_string()).join("\n");
    bench.write(&format!("{leaf}/output.jsonl"), &format!("{text}\n"));
    bench.write(&format!("{leaf}/metadata.json"), &metadata.to_string());

    let imported = bench.call(&["import", "outputs"]).expect(0);
    let run = imported.stdout().trim_end().to_owned();
    assert!(
        imported.stderr().contains("4 rows, 1 without a result"),
        "{}",
        imported.stderr()
    );
    let json: Value =
        serde_json::from_str(&bench.call(&["report", &run, "--json"]).expect(0).stdout()).unwrap();
    let text = json.to_string();
    for id in ["flat", "paired", "reported", "lost"] {
        assert!(text.contains(id), "{id}: {text}");
    }
    let table = bench.call(&["report", &run]).expect(0).stdout();
    assert!(table.contains("2 passed, 1 failed, 1 faulted"), "{table}");
    assert!(!table.contains("network"), "{table}");
    // And back: what was a result stays one.
    bench
        .call(&["export", &run, "--format", "openhands", "--out", "back"])
        .expect(0);
    let told = read_by_python(&bench, "back");
    assert_eq!(told[0], "agent CodeActAgent of old-bench 30");
    for row in crate::scripted::rows(&bench.path("back/output.jsonl")) {
        let error = match row["instance_id"].as_str() {
            Some("lost") => json!("Timeout after 60 seconds"),
            _ => Value::Null,
        };
        assert_eq!(row["error"], error, "{row}");
        assert_eq!(row["metadata"]["git_commit"], "0123456789abcdef");
        assert_eq!(row["metrics"]["costs"], metrics["costs"]);
    }
    let resolved = |id: &str, is: &str| {
        told.iter()
            .any(|line| line.starts_with(&format!("{id} {is} 1")))
    };
    assert!(
        resolved("flat", "True") && resolved("paired", "False"),
        "{told:?}"
    );
    assert!(resolved("reported", "True"), "{told:?}");
    assert!(
        told.iter().any(|line| line.starts_with("lost error:")),
        "{told:?}"
    );
}
