//! What is imported comes back when it is exported.

use std::fs;
use std::path::Path;

use agon_core::EventBody;
use agon_store::RunReader;
use serde_json::{Value, json};

use super::{Imported, import};
use crate::eval::{EvalMetadata, EvalOutput, read_output};
use crate::events::History;

const METADATA: &str = r#"{"agent_class":"CodeActAgent","llm_config":{"model":"openai/gpt-4o","log_completions":true},"max_iterations":30,"eval_output_dir":"x","start_time":"2025-02-03 04:05:06","git_commit":"abc","dataset":"d","details":{"mode":"swe"}}"#;

/// Imports the rows below `root` and exports the run again.
fn there_and_back(root: &Path, rows: &[Value]) -> (Imported, Vec<EvalOutput>) {
    let (from, back) = (root.join("from"), root.join("back"));
    fs::create_dir_all(&from).unwrap();
    fs::create_dir_all(&back).unwrap();
    fs::write(from.join("metadata.json"), METADATA).unwrap();
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    fs::write(from.join("output.jsonl"), lines.join("\n")).unwrap();
    let mut all = import(&from, &root.join("runs")).unwrap();
    let imported = all.pop().unwrap().unwrap();
    let reader = RunReader::open(&imported.run).unwrap();
    crate::results::export(reader, &back).unwrap();
    let rows = read_output(&back.join("output.jsonl")).unwrap();
    (imported, rows)
}

fn unfinished() -> Value {
    json!([
        { "id": 0, "source": "user", "action": "message", "args": { "content": "Go." } },
        { "id": 1, "source": "agent", "action": "run", "args": { "command": "ls" } },
        { "id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "",
            "extras": { "command": "ls" } },
    ])
}

#[test]
fn rows_are_what_they_were() {
    let root = tempfile::tempdir().unwrap();
    let metrics = json!({
        "accumulated_cost": 0.5,
        "costs": [{ "model": "openai/gpt-4o", "cost": 0.5, "timestamp": 7.5 }],
        "token_usages": [{ "model": "openai/gpt-4o", "prompt_tokens": 3, "response_id": "r1", "context_window": 9 }],
    });
    let graded = json!({ "git_patch": "diff --git a/x b/x\n", "report": { "resolved": true }, "notes": [1, null] });
    let (imported, rows) = there_and_back(
        root.path(),
        &[
            json!({ "instance_id": "a b", "test_result": graded, "instruction": "Go.", "history": unfinished(),
                "metrics": metrics, "error": null, "instance": { "instance_id": "a b", "base": "1" } }),
            json!({ "instance_id": "ungraded", "test_result": { "git_patch": "diff" }, "history": unfinished() }),
            json!({ "instance_id": "late", "test_result": {}, "error": "Timeout after 3 seconds" }),
            json!({ "instance_id": "odd", "test_result": {}, "error": { "code": 1 } }),
        ],
    );
    assert_eq!(imported.warnings, [""; 0]);
    let ids: Vec<&str> = rows.iter().map(|row| &*row.instance_id).collect();
    assert_eq!(ids, ["a b", "ungraded", "late", "odd"]);
    let errors: Vec<_> = rows.iter().map(|row| row.error.as_deref()).collect();
    let late = Some("Timeout after 3 seconds");
    assert_eq!(errors, [None, None, late, Some("{\"code\":1}")]);

    let first = serde_json::to_value(&rows[0]).unwrap();
    for (key, value) in graded.as_object().unwrap() {
        assert_eq!(&first["test_result"][key], value, "{key}");
    }
    // For programs that look for a result in one place only.
    assert_eq!(first["test_result"]["resolved"], json!(true));
    assert_eq!(first["instruction"], "Go.");
    assert_eq!(first["instance"]["base"], "1");
    assert_eq!(first["metrics"]["costs"], metrics["costs"]);
    let usage = &first["metrics"]["token_usages"][0];
    assert_eq!(
        (&usage["response_id"], &usage["context_window"]),
        (&json!("r1"), &json!(9))
    );
    assert_eq!(
        Value::from(rows[1].test_result.clone()),
        json!({ "git_patch": "diff" })
    );
    assert!(rows[2].test_result.is_empty() && rows[3].test_result.is_empty());
    assert_eq!(rows[2].metrics, None);

    let metadata = EvalMetadata::read(&root.path().join("back/metadata.json")).unwrap();
    assert_eq!(
        metadata,
        serde_json::from_str::<EvalMetadata>(METADATA).unwrap()
    );
    assert!(
        !root.path().join("back/llm_completions").exists(),
        "nobody knows what was said"
    );
}

#[test]
fn nothing_is_said_that_no_row_says() {
    let root = tempfile::tempdir().unwrap();
    let row = json!({ "instance_id": "a", "test_result": { "git_patch": "diff", "result": true },
        "history": unfinished(), "error": null });
    let (imported, _) = there_and_back(root.path(), &[row]);
    let reader = RunReader::open(&imported.run).unwrap();
    assert!(reader.manifest().tasks.iter().all(|task| !task.network));
    let line = &reader.trials().unwrap()[0];
    assert_eq!((line.end, line.fault.as_ref()), (None, None));
    let events = reader.events(line).unwrap();
    let of = |event: &agon_core::Event| match &event.body {
        EventBody::Kept(kept) => Some(kept.what.clone()),
        EventBody::End(_) => Some("end".to_owned()),
        _ => None,
    };
    let told: Vec<String> = events.iter().filter_map(of).collect();
    assert_eq!(told, ["row", "patch", "history"]);
}

#[test]
fn a_run_without_metadata_is_told_by_its_manifest() {
    let root = tempfile::tempdir().unwrap();
    let row = json!({ "instance_id": "a", "test_result": { "result": true } });
    fs::write(root.path().join("output.jsonl"), row.to_string()).unwrap();
    let runs = tempfile::tempdir().unwrap();
    let imported = import(root.path(), runs.path()).unwrap().remove(0).unwrap();
    assert!(!imported.run.join("metadata.json").exists());
    let reader = RunReader::open(&imported.run).unwrap();
    let metadata = crate::results::metadata_of(&reader, root.path()).unwrap();
    assert_eq!(metadata.agent_class, "unknown");
}

/// What a record has no place for: the system's message, errors that nothing caused, lists of tasks, answers.
#[test]
fn a_history_comes_back_word_for_word() {
    let root = tempfile::tempdir().unwrap();
    let call = json!({ "function_name": "task_tracker", "tool_call_id": "c1", "model_response": { "id": "r1" },
        "total_calls_in_response": 1 });
    let tasks = json!([{ "id": "1", "title": "x", "status": "todo" }]);
    let events = json!([
        { "id": 0, "source": "agent", "action": "system", "args": { "content": "You are.", "tools": null } },
        { "id": 1, "source": "user", "action": "message", "args": { "content": "Go." } },
        { "id": 2, "source": "agent", "action": "task_tracking", "tool_call_metadata": call,
            "args": { "command": "plan", "task_list": tasks, "thought": "" } },
        { "id": 3, "source": "agent", "cause": 2, "observation": "task_tracking", "content": "noted",
            "extras": { "command": "plan", "task_list": tasks } },
        { "id": 4, "source": "agent", "observation": "error", "content": "no such tool", "extras": { "error_id": "" } },
        { "id": 5, "source": "environment", "observation": "agent_state_changed", "content": "",
            "extras": { "agent_state": "finished", "reason": "" } },
    ]);
    let strange = json!({ "id": 6, "source": "agent", "action": "from_the_future", "args": {} });
    let mut longer = events.as_array().unwrap().clone();
    longer.insert(2, strange);
    let row = |id: &str, history: Value| json!({ "instance_id": id, "test_result": { "result": true }, "history": history });
    let (imported, rows) = there_and_back(
        root.path(),
        &[row("whole", events.clone()), row("odd", longer.into())],
    );
    let was: History = serde_json::from_value(events).unwrap();
    for row in &rows {
        assert_eq!(row.history.as_ref(), Some(&was), "{}", row.instance_id);
    }
    let [told] = &imported.warnings[..] else {
        panic!("{:?}", imported.warnings)
    };
    assert!(
        told.starts_with("line 2: 1 of 7 events") && told.contains("from_the_future"),
        "{told}"
    );
}

#[test]
fn what_is_not_an_export_of_the_run_is_not_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let row = json!({ "instance_id": "a", "test_result": { "result": true } });
    let (imported, _) = there_and_back(root.path(), std::slice::from_ref(&row));
    let export = |out: &Path| {
        let reader = RunReader::open(&imported.run).unwrap();
        crate::results::export(reader, out)
    };
    export(&root.path().join("back")).unwrap();
    let old = root.path().join("from");
    let before = fs::read(old.join("output.jsonl")).unwrap();
    let refused = export(&old).unwrap_err().to_string();
    assert!(refused.contains("--out"), "{refused}");
    assert_eq!(fs::read(old.join("output.jsonl")).unwrap(), before);
    for name in ["output.jsonl", "metadata.json"] {
        let foreign = root.path().join(format!("only-{name}"));
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join(name), "{}").unwrap();
        let refused = export(&foreign).unwrap_err().to_string();
        assert!(refused.contains(name), "{refused}");
        assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(foreign.join(name)).unwrap(), "{}");
    }
}
