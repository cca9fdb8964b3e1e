//! The evaluator that asks a model, as a user calls it.

use std::fs;

use serde_json::{Value, json};

use super::{Desk, agon, call, lines, notes};
use crate::support::Bench;

/// Three answers: it goes on, it is over, the score.
const ANSWERS: &str = r#"{"text":"No"}
{"text":"Yes"}
{"text":"{\"score\":12.34}"}
"#;

/// A window that never changes once it has its name.
const STILL: &str = "xterm -T early -e sh -c \
                     'tput civis; printf \"LAST 12:34\\n\\033]0;writer\\007\"; exec cat'";

fn task(criteria: Value) -> String {
    let mut task = json!({
        "env_name": "terminal", "window_name": "writer", "task_description": "write",
        "timeout": 60, "check_env_interval_seconds": 0.1, "success_criteria": { "time_survived": 10 },
    });
    for (key, value) in criteria.as_object().unwrap() {
        task["success_criteria"][key] = value.clone();
    }
    task.to_string()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("answers.jsonl", ANSWERS);
    bench.write("task.json", &task(json!({})));
    bench
}

const RUN: [&str; 6] = [
    "arena",
    "run",
    "task.json",
    "--evaluator",
    "vision",
    "--json",
];

#[test]
fn a_model_judges_and_a_tape_judges_the_same_without_it() {
    let bench = bench();
    let report = ["--app", STILL, "--report", "r.jsonl"];
    let model = ["--model", "mock/script:answers.jsonl"];
    let mut results = Vec::new();
    for tape in [["--record-tape", "judge.tape"], ["--tape", "judge.tape"]] {
        let args = [&RUN[..], &report, &model, &tape].concat();
        results.extend(lines(&call(&bench, &args).expect(0).stdout()));
    }
    assert_eq!(results.len(), 2);
    for result in &results {
        assert!(notes(result).starts_with("env_ended"), "{result}");
        assert_eq!(result["metrics"]["score"], 12.34, "{result}");
        assert_eq!(result["metrics"]["success"], true, "{result}");
    }
    let side = lines(&fs::read_to_string(bench.path("r.agon.jsonl")).unwrap());
    for (line, taped) in side.iter().zip([false, true]) {
        let calls = line["calls"].as_array().unwrap();
        assert_eq!(calls.len(), 3, "{line}");
        assert!(calls.iter().all(|call| call["taped"] == taped), "{line}");
        assert_eq!(calls[2]["answer"], r#"{"score":12.34}"#);
        assert_eq!(line["usage"]["calls"], 3);
        assert_eq!(line["usage"]["money"], 0, "mocks cost nothing: {line}");
    }
}

#[test]
fn three_processes_play_together_with_a_model_as_the_judge() {
    let desk = Desk::start();
    desk.0.write("answers.jsonl", ANSWERS);
    desk.0
        .write("task.json", &task(json!({ "model": "judge" })));
    desk.0.write(
        "config.toml",
        "[llm.judge]\nmodel = \"mock/script:answers.jsonl\"\n",
    );
    let agent = desk.serve(&["agent"]);
    let evaluator = desk.serve(&["evaluator", "--evaluator", "vision"]);
    let results = lines(&desk.client(&agent, &evaluator).expect(0).stdout());
    assert_eq!(results.len(), 2);
    for result in &results {
        // Each task begins at the start of the script.
        assert!(notes(result).starts_with("env_ended"), "{result}");
        assert_eq!(result["metrics"]["score"], 12.34, "{result}");
    }
    assert_eq!(evaluator.interrupt(), Some(0));
}

#[test]
fn what_is_wrong_with_the_model_is_said_before_anything_starts() {
    let bench = bench();
    bench.write("keyless.toml", "[llm.eye]\nmodel = \"openai/gpt-4o\"\n");
    let run = |more: &[&str]| {
        let mut command = agon(&bench, &[&RUN[..], more].concat());
        command.env_remove("OPENAI_API_KEY");
        crate::support::Called(command.output().unwrap())
    };
    for (more, word) in [
        (&[][..], "name one with --model"),
        (&["--model", "nobody"], "no such section"),
        (&["--model", "mock/script:nowhere.jsonl"], "nowhere.jsonl"),
        (
            &["--model", "openai/gpt-3.5-turbo", "--tape", "no.tape"],
            "no.tape",
        ),
        (&["--config", "keyless.toml", "--model", "eye"], "no key"),
        (&["--model", "mock/echo", "--budget-money", "much"], "2.50"),
    ] {
        let called = run(more).expect(2);
        assert!(
            called.stderr().contains(word),
            "{more:?}: {}",
            called.stderr()
        );
    }
    let alone = ["arena", "run", "task.json", "--model", "mock/echo"];
    let called = call(&bench, &alone).expect(2);
    assert!(
        called.stderr().contains("asks no model"),
        "{}",
        called.stderr()
    );
}

/// A task comes from elsewhere: it may choose, but only among what the operator allows.
#[test]
fn a_task_can_not_name_a_model_that_the_operator_does_not_allow() {
    let bench = bench();
    bench.write("task.json", &task(json!({ "model": "mock/text:yes" })));
    let more = ["--app", STILL, "--model", "mock/script:answers.jsonl"];
    let called = call(&bench, &[&RUN[..], &more].concat()).expect(1);
    let result = &lines(&called.stdout())[0];
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("may not be asked here"), "{error}");
}
