//! Old result files become runs.

use std::fs;
use std::path::Path;

use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{Action, EventBody, FaultClass, Money};
use agon_store::{RunReader, TrialLine};
use serde_json::{Value, json};

use super::score::score;
use super::*;
use crate::dialect::{Record, history};
use crate::events::EventSource;

const METADATA: &str = r#"{"agent_class":"CodeActAgent","llm_config":{"model":"openai/gpt-4o","api_key":"**********","temperature":0.0},"max_iterations":30,"eval_output_dir":"x","start_time":"2025-02-03 04:05:06","git_commit":"abc","dataset":"princeton-nlp/SWE-bench","data_split":"test","details":null}"#;

fn flat() -> Value {
    let text = include_str!("../../../tests/golden/history.json");
    serde_json::from_str(text).unwrap()
}

fn metrics() -> Value {
    json!({
        "accumulated_cost": 0.25,
        "accumulated_token_usage": { "model": "gpt-4o", "prompt_tokens": 30, "completion_tokens": 4 },
        "costs": [{ "model": "gpt-4o", "cost": 0.25, "timestamp": 1.0 }],
        "response_latencies": [{ "model": "gpt-4o", "latency": 1.5, "response_id": "chatcmpl-1" }],
        "token_usages": [
            { "model": "gpt-4o", "prompt_tokens": 20, "completion_tokens": 3 },
            { "model": "gpt-4o", "prompt_tokens": 10, "completion_tokens": 1 },
        ],
    })
}

fn write(folder: &Path, rows: &[Value]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("metadata.json"), METADATA).unwrap();
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let torn = r#"{"instance_id": "torn"#;
    fs::write(
        folder.join("output.jsonl"),
        format!("{}\n{torn}", lines.join("\n")),
    )
    .unwrap();
}

fn of<'a>(lines: &'a [TrialLine], id: &str) -> Vec<&'a TrialLine> {
    lines.iter().filter(|line| line.task.id() == id).collect()
}

fn imported(from: &Path, runs: &Path) -> Vec<Imported> {
    let all = import(from, runs).unwrap();
    all.into_iter().map(Result::unwrap).collect()
}

#[test]
fn a_folder_of_results_becomes_a_run() {
    let root = tempfile::tempdir().unwrap();
    let pair = json!([[flat()[2], flat()[3]], [flat()[4], { "observation": "null", "content": "", "extras": {} }]]);
    let strange = json!([{ "action": "from_the_future", "args": {} }]);
    write(
        &root.path().join("out/d/CodeActAgent/m"),
        &[
            json!({ "instance_id": "a__b-1", "instruction": "Say hello.", "test_result": { "git_patch": "", "report": { "resolved": true } },
                "history": flat(), "metrics": metrics(), "error": null }),
            json!({ "instance_id": "a b", "test_result": { "result": false }, "history": pair, "error": "AgentStuckInLoopError: x" }),
            json!({ "instance_id": "a_b", "test_result": {}, "error": "Timeout after 3 seconds" }),
            json!({ "instance_id": "a_b", "test_result": { "exit_code": 1 }, "history": strange }),
            json!({ "instance_id": 7, "test_result": { "git_patch": "diff" }, "history": [] }),
        ],
    );
    let runs = root.path().join("runs");
    let imported = imported(&root.path().join("out"), &runs);
    assert_eq!(imported.len(), 1);
    assert_eq!((imported[0].rows, imported[0].ungraded), (5, 2));
    let [torn, strange] = &imported[0].warnings[..] else {
        panic!("{:?}", imported[0].warnings)
    };
    assert_eq!(torn, "line 6 is left out: its end is missing");
    assert!(strange.contains("from_the_future"), "{strange}");

    let reader = RunReader::open(&imported[0].run).unwrap();
    let manifest = reader.manifest();
    assert_eq!(manifest.agent.spec, "CodeActAgent");
    assert_eq!(manifest.models[0].provider, "openai");
    assert_eq!(manifest.created.to_string(), "2025-02-03T04:05:06Z");
    assert_eq!(manifest.tasks.len(), 4);
    let lines = reader.trials().unwrap();
    assert_eq!(lines.iter().filter(|line| line.is_final).count(), 4);

    let solved = of(&lines, "a__b-1")[0];
    assert_eq!((solved.outcome, solved.score), (Outcome::Passed, 1.0));
    assert_eq!((solved.end, solved.steps), (Some(TurnEnd::Finished), 2));
    assert_eq!(
        (solved.usage.input_tokens, solved.usage.output_tokens),
        (30, 4)
    );
    assert_eq!(solved.usage.money, Some(Money::from_micros(250_000)));
    assert_eq!(solved.usage.unpriced_calls, 1);
    assert!(
        (solved.seconds.total() - 2.999_999).abs() < 1e-6,
        "{:?}",
        solved.seconds
    );

    // Two ids that are the same as names of folders stay apart.
    let blank = of(&lines, "a_b")[0];
    assert_eq!(
        (blank.outcome, blank.end),
        (Outcome::Failed, Some(TurnEnd::Stuck))
    );
    let [first, second] = of(&lines, "a_b-2")[..] else {
        panic!("two attempts")
    };
    assert_eq!(first.fault.as_ref().unwrap().class, FaultClass::Timeout);
    assert!(!first.is_final && second.is_final);
    assert_eq!((second.outcome, second.attempt), (Outcome::Failed, 2));
    assert!(second.retried && second.epoch == 1);
    let open = of(&lines, "7")[0];
    assert_eq!(open.fault.as_ref().unwrap().class, FaultClass::NeedsJudge);
}

/// As an export of several epochs has them.
#[test]
fn every_result_of_an_instance_counts() {
    let root = tempfile::tempdir().unwrap();
    let check = json!({ "check": "tests", "passed": false, "score": 0.0, "reason": "x", "weight": 1.0, "integrity": "forged" });
    let result = |passed: bool| json!({ "end": "step_limit", "resolved": passed, "result": passed, "score": f64::from(u8::from(passed)), "checks": [check] });
    let row = |id: &str, passed: bool| json!({ "instance_id": id, "test_result": result(passed) });
    let fault =
        json!({ "instance_id": "a", "test_result": {}, "error": "Timeout after 3 seconds" });
    write(
        root.path(),
        &[
            row("a", true),
            row("b", false),
            fault,
            row("b", true),
            row("a", false),
        ],
    );
    let runs = tempfile::tempdir().unwrap();
    let imported = imported(root.path(), runs.path());
    let [_, uneven] = &imported[0].warnings[..] else {
        panic!("{:?}", imported[0].warnings)
    };
    assert!(
        uneven.contains("3 rows") && uneven.contains("only 2"),
        "{uneven}"
    );
    let reader = RunReader::open(&imported[0].run).unwrap();
    assert_eq!(reader.manifest().epochs, 3);
    let lines = reader.trials().unwrap();
    let told = |id: &str| -> Vec<_> {
        let of = of(&lines, id);
        let told = of.iter().map(|line| (line.epoch, line.outcome));
        told.collect()
    };
    use Outcome::{Failed, Faulted, Passed};
    assert_eq!(told("a"), [(1, Passed), (2, Faulted), (3, Failed)]);
    assert_eq!(told("b"), [(1, Failed), (2, Passed)]);
    assert!(
        lines
            .iter()
            .all(|line| line.is_final && line.attempt == 1 && !line.retried)
    );
    let first = of(&lines, "a")[0];
    assert_eq!(first.end, Some(TurnEnd::StepLimit));
    assert_eq!(first.integrity.as_deref(), Some("forged"));
}

/// Lists that are missing, too short or unreadable: the sums stand, and what can't be read is told.
#[test]
fn no_money_and_no_token_gets_lost() {
    let root = tempfile::tempdir().unwrap();
    let tokens =
        |tokens: u64| json!({ "model": "m", "prompt_tokens": tokens, "completion_tokens": 1 });
    let sum = json!({ "prompt_tokens": 30, "completion_tokens": 4, "cache_read_tokens": 7 });
    let cost = |cost: f64| json!({ "model": "m", "cost": cost });
    let cases = [
        (
            "costs",
            json!({ "accumulated_cost": 2.0, "costs": [], "token_usages": [tokens(10)] }),
            (10, 1),
            2.0,
            0,
        ),
        (
            "tokens",
            json!({ "accumulated_cost": 2.0, "costs": [cost(2.0)], "accumulated_token_usage": sum }),
            (30, 4),
            2.0,
            0,
        ),
        (
            "sums",
            json!({ "accumulated_cost": 2.0, "accumulated_token_usage": sum }),
            (30, 4),
            2.0,
            0,
        ),
        (
            "short",
            json!({ "accumulated_cost": 3.0, "costs": [cost(1.0)], "accumulated_token_usage": sum,
            "token_usages": [tokens(10), tokens(5)] }),
            (30, 4),
            3.0,
            0,
        ),
        (
            "unpriced",
            json!({ "accumulated_cost": 1.0, "costs": [cost(1.0)],
            "token_usages": [tokens(10), tokens(5)] }),
            (15, 2),
            1.0,
            1,
        ),
        (
            "lists",
            json!({ "accumulated_cost": 0.0, "costs": [cost(0.1), cost(0.2)],
            "token_usages": [tokens(10), tokens(5)] }),
            (15, 2),
            0.3,
            0,
        ),
        (
            "thirds",
            json!({ "accumulated_cost": 0.3, "costs": [cost(0.1), cost(0.1), cost(0.1)] }),
            (0, 0),
            0.3,
            0,
        ),
        (
            "broken",
            json!({ "accumulated_cost": 2.0, "costs": [{ "cost": "two" }], "response_latencies": null,
            "accumulated_token_usage": sum }),
            (30, 4),
            2.0,
            0,
        ),
    ];
    let row = |(id, metrics, ..): &(&str, Value, (u64, u64), f64, u64)| json!({ "instance_id": id, "test_result": { "result": true }, "metrics": metrics });
    write(root.path(), &cases.iter().map(row).collect::<Vec<_>>());
    let runs = tempfile::tempdir().unwrap();
    let imported = imported(root.path(), runs.path());
    let reader = RunReader::open(&imported[0].run).unwrap();
    let lines = reader.trials().unwrap();
    for (id, _, tokens, dollars, unpriced) in &cases {
        let usage = &of(&lines, id)[0].usage;
        assert_eq!((usage.input_tokens, usage.output_tokens), *tokens, "{id}");
        let money = Money::from_micros((dollars * 1e6).round() as u64);
        assert_eq!(usage.money, Some(money), "{id}");
        assert_eq!(usage.unpriced_calls, *unpriced, "{id}");
    }
    let told = &imported[0].warnings;
    let [told] = &told
        .iter()
        .filter(|told| !told.contains("end is missing"))
        .collect::<Vec<_>>()[..]
    else {
        panic!("{told:?}")
    };
    assert!(
        told.starts_with("line 8: ") && told.contains("costs ("),
        "{told}"
    );
}

#[test]
fn an_imported_record_reads_as_the_history_that_it_was() {
    let root = tempfile::tempdir().unwrap();
    let row = json!({ "instance_id": "a", "test_result": { "result": true }, "history": flat(), "metrics": metrics() });
    write(root.path(), &[row]);
    let runs = tempfile::tempdir().unwrap();
    let imported = imported(&root.path().join("output.jsonl"), runs.path());
    let reader = RunReader::open(&imported[0].run).unwrap();
    let lines = reader.trials().unwrap();
    let events = reader.events(&lines[0]).unwrap();
    let actions: Vec<&Action> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Action(action) => Some(action),
            _ => None,
        })
        .collect();
    assert_eq!(actions.len(), 2);
    assert!(reader.verdict(&lines[0]).unwrap().unwrap().passed);
    let record = Record {
        events: &events,
        instruction: None,
        agent: "CodeActAgent",
        bodies: &reader,
        models: None,
    };
    let again = history(&record);
    assert_eq!(again[0].words_of(EventSource::User), Some("Say hello."));
    let was: crate::events::History = serde_json::from_value(flat()).unwrap();
    let was = was.into_flat();
    assert_eq!(
        again.len(),
        was.len() - 1,
        "only the system message is not kept"
    );
    assert_eq!(again[1].action().unwrap().thought(), Some("I greet."));
    assert_eq!(again[1].timestamp, was[2].timestamp);
    assert_eq!(again[2].observation().unwrap().content(), "hello");
}

#[test]
fn results_are_found_under_every_known_name() {
    let of =
        |result: Value, row: Value| score(result.as_object().unwrap(), row.as_object().unwrap());
    let none = || json!({});
    for passed in ["resolved", "result", "success", "passed", "correct"] {
        assert_eq!(
            of(json!({ passed: true }), none()),
            Some((true, 1.0)),
            "{passed}"
        );
        assert_eq!(
            of(json!({ passed: false }), none()),
            Some((false, 0.0)),
            "{passed}"
        );
    }
    for yes in [json!(1), json!(1.0), json!("true"), json!("True")] {
        let result = json!({ "result": yes });
        assert_eq!(of(result.clone(), none()), Some((true, 1.0)), "{result}");
    }
    for no in [json!(0), json!("false")] {
        assert_eq!(of(json!({ "resolved": no }), none()), Some((false, 0.0)));
    }
    assert_eq!(of(json!({ "accuracy": 1.0 }), none()), Some((true, 1.0)));
    assert_eq!(of(json!({ "result": 0.5 }), none()), Some((false, 0.5)));
    assert_eq!(of(json!({ "exit_code": 0 }), none()), Some((true, 1.0)));
    assert_eq!(of(json!({ "exit_code": 2 }), none()), Some((false, 0.0)));
    assert_eq!(of(json!({ "score": 0.25 }), none()), Some((false, 0.25)));
    assert_eq!(
        of(json!({ "resolved": false, "score": 0.25 }), none()),
        Some((false, 0.25))
    );
    assert_eq!(
        of(json!({ "report": { "resolved": true } }), none()),
        Some((true, 1.0))
    );
    assert_eq!(
        of(none(), json!({ "report": { "resolved": false } })),
        Some((false, 0.0))
    );
    assert_eq!(
        of(
            json!({ "git_patch": "x", "score": 7, "result": "yes" }),
            none()
        ),
        None
    );
}

#[test]
fn what_is_no_result_file_is_told_by_its_line() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("output.jsonl"), "\nnonsense\n{}\n").unwrap();
    let runs = tempfile::tempdir().unwrap();
    let [Err(error)] = &import(root.path(), runs.path()).unwrap()[..] else {
        panic!("it holds no row")
    };
    assert!(error.to_string().contains("line 2"), "{error}");
    assert_eq!(
        fs::read_dir(runs.path()).unwrap().count(),
        0,
        "no half run is left"
    );
    assert!(import(&root.path().join("nowhere"), runs.path()).is_err());
    assert!(import(runs.path(), runs.path()).unwrap().is_empty());
}

#[test]
fn one_bad_file_or_line_does_not_end_the_others() {
    let root = tempfile::tempdir().unwrap();
    let row = |id: &str| json!({ "instance_id": id, "test_result": { "result": true } });
    write(&root.path().join("a"), &[row("1")]);
    fs::create_dir(root.path().join("b")).unwrap();
    fs::write(root.path().join("b/output.jsonl"), "nonsense\n").unwrap();
    write(&root.path().join("c"), &[row("1"), json!([1]), row("2")]);
    // Another version's idea of two keys.
    let strange = METADATA
        .replace("\"max_iterations\":30", "\"max_iterations\":\"many\"")
        .replace("\"details\":null", "\"details\":[1]");
    fs::write(root.path().join("c/metadata.json"), strange).unwrap();
    write(&root.path().join("d"), &[row("1")]);
    fs::write(root.path().join("d/metadata.json"), "{ torn").unwrap();
    let runs = tempfile::tempdir().unwrap();
    let all = import(root.path(), runs.path()).unwrap();
    let rows: Vec<_> = all
        .iter()
        .map(|one| one.as_ref().map(|one| (one.rows, one.warnings.len())).ok())
        .collect();
    assert_eq!(rows, [Some((1, 1)), None, Some((2, 3)), Some((1, 2))]);
    let third = all[2].as_ref().unwrap();
    assert!(third.warnings[0].starts_with("line 2 is left out"));
    assert!(third.warnings[1].starts_with("line 4 is left out"));
    assert!(third.warnings[2].ends_with("left out: details, max_iterations"));
    let reader = RunReader::open(&third.run).unwrap();
    assert_eq!(reader.manifest().agent.spec, "CodeActAgent");
    assert_eq!(reader.trials().unwrap().len(), 2);
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 3);
}

#[test]
fn a_last_row_without_an_end_of_line_counts() {
    let root = tempfile::tempdir().unwrap();
    let row = json!({ "instance_id": "a", "test_result": { "result": true } });
    fs::write(root.path().join("output.jsonl"), row.to_string()).unwrap();
    let runs = tempfile::tempdir().unwrap();
    assert_eq!(imported(root.path(), runs.path())[0].rows, 1);
}

#[test]
fn a_condensation_tells_the_steps_that_were_forgotten() {
    let root = tempfile::tempdir().unwrap();
    let mut events =
        vec![json!({ "id": 0, "source": "user", "action": "message", "args": { "content": "x" } })];
    for step in 0..5 {
        let id = 1 + 2 * step;
        events.push(
            json!({ "id": id, "source": "agent", "action": "run", "args": { "command": "ls" } }),
        );
        events.push(
            json!({ "id": id + 1, "source": "agent", "cause": id, "observation": "run",
            "content": "", "extras": { "command": "ls" } }),
        );
    }
    let condense =
        |args: Value| json!({ "source": "agent", "action": "condensation", "args": args });
    events.push(condense(
        json!({ "forgotten_events_start_id": 3, "forgotten_events_end_id": 6, "summary": "s", "summary_offset": 3 }),
    ));
    events.push(condense(json!({ "forgotten_event_ids": [1, 2, 7, 8, 9] })));
    events.push(condense(json!({ "forgotten_event_ids": [] })));
    let row = json!({ "instance_id": "a", "test_result": { "result": true }, "history": events });
    write(root.path(), &[row]);
    let runs = tempfile::tempdir().unwrap();
    let imported = imported(root.path(), runs.path());
    let [torn] = &imported[0].warnings[..] else {
        panic!("{:?}", imported[0].warnings)
    };
    assert!(torn.starts_with("line 2"), "{torn}");
    let reader = RunReader::open(&imported[0].run).unwrap();
    let lines = reader.trials().unwrap();
    let told: Vec<_> = reader
        .events(&lines[0])
        .unwrap()
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Condensed(gone) => Some((gone.from, gone.to, gone.summary)),
            _ => None,
        })
        .collect();
    let summary = Some("s".to_owned());
    assert_eq!(told, [(2, 3, summary), (1, 1, None), (4, 5, None)]);
}

#[test]
fn money_without_tokens_is_not_lost() {
    let root = tempfile::tempdir().unwrap();
    let row = |id: &str, metrics: Value| json!({ "instance_id": id, "test_result": { "result": true }, "metrics": metrics });
    let costs = json!([{ "model": "m", "cost": 0.5, "timestamp": 1.0 }]);
    write(
        root.path(),
        &[
            row("costs", json!({ "accumulated_cost": 0.5, "costs": costs })),
            row("sum", json!({ "accumulated_cost": 0.5 })),
            row("none", json!({ "accumulated_cost": 0.0 })),
        ],
    );
    let runs = tempfile::tempdir().unwrap();
    let imported = imported(root.path(), runs.path());
    let lines = RunReader::open(&imported[0].run).unwrap().trials().unwrap();
    let money: Vec<_> = lines.iter().map(|line| line.usage.money).collect();
    let half = Some(Money::from_micros(500_000));
    assert_eq!(money, [half, half, None]);
}
