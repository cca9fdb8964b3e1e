//! Result files: what is written, what is refused, what is read back.

use std::{fs, path::Path, sync::Arc};

use agon_core::clock::FixedClock;
use agon_core::event::Kept;
use agon_core::verdict::{CheckResult, TurnEnd, Verdict};
use agon_core::{Digest, EventBody, Fault, FaultClass, Source, TaskId, TimeSplit, TrialId};
use agon_llm::{ModelSpec, config::Config, config::ConfigSource};
use agon_store::blobs::Stored;
use agon_store::{EventsAt, RunFolder, RunWriter, TrialLine};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::dialect::tests::{conversation, record_of, recorded};
use crate::events::History;
use crate::state::State;

fn model(folder: &Path, more: &str) -> ModelSpec {
    let file = folder.join("config.toml");
    let text = "[llm.eval]\nmodel = \"openai/gpt-4o:beta@2\"\napi_key = \"hush-hush\"\n";
    fs::write(&file, format!("{text}{more}")).unwrap();
    let config = Config::load(&ConfigSource::of_process(Some(file))).unwrap();
    config.model("eval").unwrap()
}

fn options<'a>(llm: &'a ModelSpec, root: &'a Path) -> MetadataOptions<'a> {
    MetadataOptions {
        llm: Some(llm),
        dataset_name: "my-bench",
        agent_class: "CodeActAgent",
        max_iterations: 30,
        eval_note: Some("v1"),
        eval_output_dir: root,
        data_split: None,
        details: json!({ "openai_api_key": "hush-hush", "mode": "x" })
            .as_object()
            .cloned(),
        agent_config: None,
        condenser_config: None,
        instruction_template_name: None,
    }
}

fn clock(second: u32) -> FixedClock {
    FixedClock(format!("2026-11-16T10:00:{second:02}Z").parse().unwrap())
}

#[test]
fn metadata_has_its_twelve_keys_and_no_secret() {
    let root = tempfile::tempdir().unwrap();
    let llm = model(root.path(), "temperature = 0.5\n");
    let metadata = options(&llm, root.path()).make(&clock(0)).unwrap();
    let folder = root
        .path()
        .join("my-bench/CodeActAgent/gpt-4o_beta-2_maxiter_30_N_v1");
    assert!(folder.join("logs").is_dir());
    let text = fs::read_to_string(folder.join("metadata.json")).unwrap();
    assert!(
        !text.contains("hush") && text.contains("**********"),
        "{text}"
    );
    let keys = [
        "agent_class",
        "llm_config",
        "agent_config",
        "max_iterations",
        "eval_output_dir",
        "start_time",
        "git_commit",
        "dataset",
        "data_split",
        "details",
        "condenser_config",
        "instruction_template_name",
    ];
    let places: Vec<_> = keys
        .iter()
        .map(|key| text.find(&format!("\"{key}\":")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
    let shown: Map<String, Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(shown.len(), 12);
    assert_eq!(shown["start_time"], "2026-11-16 10:00:00");
    assert_eq!(shown["llm_config"]["temperature"], 0.5);
    assert_eq!(shown["details"]["mode"], "x");
    assert_eq!(metadata.eval_output_dir, folder.display().to_string());
}

#[test]
fn a_resume_keeps_the_metadata_and_another_experiment_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let llm = model(root.path(), "");
    let first = options(&llm, root.path()).make(&clock(0)).unwrap();
    let again = options(&llm, root.path()).make(&clock(9)).unwrap();
    assert_eq!(again.start_time, first.start_time);
    let warmer = model(root.path(), "temperature = 0.9\n");
    let error = options(&warmer, root.path()).make(&clock(9)).unwrap_err();
    assert!(error.to_string().contains("llm_config"), "{error}");
    let plain = make_metadata(&llm, "d", "CodeActAgent", 5, None, root.path()).unwrap();
    assert!(
        plain
            .eval_output_dir
            .ends_with("d/CodeActAgent/gpt-4o_beta-2_maxiter_5")
    );
    let agent = "cmd:python3 /x/../agent.py";
    let nested = make_metadata(&llm, "d", agent, 5, Some("a/b c"), root.path()).unwrap();
    let leaf = "d/cmd:python3 _x_.._agent.py/gpt-4o_beta-2_maxiter_5_N_a_b c";
    assert!(
        nested.eval_output_dir.ends_with(leaf),
        "{}",
        nested.eval_output_dir
    );
    for bad in ["", "..", "/etc", "a/../b"] {
        let made = make_metadata(&llm, bad, "CodeActAgent", 5, None, root.path());
        assert!(matches!(made, Err(EvalFileError::Name(_))), "{bad}");
    }
}

fn row(id: &str) -> EvalOutput {
    EvalOutput {
        instance_id: id.to_owned(),
        test_result: json!({ "result": true }).as_object().cloned().unwrap(),
        instruction: None,
        metadata: None,
        history: None,
        metrics: None,
        error: None,
        instance: None,
    }
}

fn failed(id: &str) -> EvalOutput {
    EvalOutput {
        test_result: Map::new(),
        error: Some("Timeout after 3 seconds".to_owned()),
        ..row(id)
    }
}

fn ids(path: &Path) -> Vec<String> {
    let rows = read_output(path).unwrap();
    rows.into_iter().map(|row| row.instance_id).collect()
}

#[test]
fn a_row_has_its_eight_keys_in_order() {
    let text = serde_json::to_string(&row("a")).unwrap();
    assert_eq!(
        text,
        r#"{"instance_id":"a","test_result":{"result":true},"instruction":null,"metadata":null,"history":null,"metrics":null,"error":null,"instance":null}"#
    );
    let old: EvalOutput = serde_json::from_str(r#"{"instance_id":7,"test_result":{}}"#).unwrap();
    assert_eq!(old.instance_id, "7");
    assert!(serde_json::from_str::<EvalOutput>(r#"{"instance_id":"a"}"#).is_err());
}

#[test]
fn only_one_writes_and_only_whole_lines_stay() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("deep/output.jsonl");
    let mut writer = OutputWriter::open(&path).unwrap();
    assert!(matches!(
        OutputWriter::open(&path),
        Err(EvalFileError::Locked { .. })
    ));
    writer.append(&row("a")).unwrap();
    writer.append(&failed("b")).unwrap();
    drop(writer);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str(r#"{"instance_id":"torn","te"#);
    fs::write(&path, text).unwrap();
    assert_eq!(ids(&path), ["a", "b"]);
    let mut writer = OutputWriter::open(&path).unwrap();
    writer.append(&row("c")).unwrap();
    writer.append(&row("b")).unwrap();
    assert!(matches!(
        OutputWriter::open(&path),
        Err(EvalFileError::Locked { .. })
    ));
    writer.append(&row("d")).unwrap();
    assert_eq!(ids(&path), ["a", "c", "b", "d"]);
    assert!(
        read_output(&path)
            .unwrap()
            .iter()
            .all(EvalOutput::is_graded)
    );
}

#[test]
fn a_last_row_whose_end_is_missing_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("output.jsonl");
    let lines = [row("a"), row("b")].map(|row| serde_json::to_string(&row).unwrap());
    fs::write(&path, lines.join("\n")).unwrap();
    assert_eq!(ids(&path), ["a", "b"]);
    let left = prepared(&Selection::default(), &path);
    assert_eq!(left.len(), 10);
    let mut writer = OutputWriter::open(&path).unwrap();
    writer.append(&row("c")).unwrap();
    writer.append(&failed("d")).unwrap();
    writer.append(&row("d")).unwrap();
    assert_eq!(ids(&path), ["a", "b", "c", "d"]);
}

fn dataset(count: usize) -> Vec<Map<String, Value>> {
    let row = |at| {
        json!({ "instance_id": at, "x": 1 })
            .as_object()
            .cloned()
            .unwrap()
    };
    (0..count).map(row).collect()
}

fn prepared(selection: &Selection, output: &Path) -> Vec<String> {
    let instances = prepare_dataset(dataset(10), output, selection).unwrap();
    instances.iter().map(Instance::id).collect()
}

#[test]
fn a_selection_takes_what_it_says_and_leaves_what_is_done() {
    let root = tempfile::tempdir().unwrap();
    let output = root.path().join("output.jsonl");
    assert_eq!(prepared(&Selection::default(), &output).len(), 10);
    assert_eq!(prepared(&Selection::first(3), &output), ["0", "1", "2"]);
    let skip = Selection {
        skip_num: Some(8),
        ..Selection::first(5)
    };
    assert_eq!(prepared(&skip, &output), ["8", "9"]);
    let given = |ids: &[&str]| Selection {
        eval_ids: Some(ids.iter().map(|id| (*id).to_owned()).collect()),
        ..Selection::first(1)
    };
    assert_eq!(prepared(&given(&["7", "2"]), &output), ["2", "7"]);
    let unknown = prepare_dataset(dataset(3), &output, &given(&["2", "nine"])).unwrap_err();
    assert!(unknown.to_string().contains("`nine`"), "{unknown}");

    let sample = |seed| {
        prepared(
            &Selection {
                sample: Some(seed),
                ..Selection::first(4)
            },
            &output,
        )
    };
    assert_eq!(sample(42), sample(42));
    assert_eq!(sample(42).len(), 4);
    assert!((0..20).any(|seed| sample(seed) != sample(42)));

    let mut writer = OutputWriter::open(&output).unwrap();
    writer.append(&row("0")).unwrap();
    writer.append(&failed("1")).unwrap();
    assert_eq!(
        prepared(&Selection::first(3), &output),
        ["1", "2"],
        "no result is no result"
    );
}

#[test]
fn rows_need_ids_of_their_own() {
    let nowhere = Path::new("/nonexistent/output.jsonl");
    let bad = vec![Map::new()];
    let error = prepare_dataset(bad, nowhere, &Selection::default()).unwrap_err();
    assert!(matches!(error, EvalFileError::NoId { row: 1 }));
    let twice = [dataset(2), dataset(1)].concat();
    let error = prepare_dataset(twice, nowhere, &Selection::default()).unwrap_err();
    assert!(matches!(error, EvalFileError::SameId(id) if id == "0"));
}

#[test]
fn the_simulated_user_offers_giving_up_and_leaves_with_the_answer() {
    let events = conversation();
    let early = State::so_far(&events[..12], "", &Default::default(), Default::default());
    assert!(!codeact_user_response(&early).contains("give up"));
    let late = State {
        history: crate::dialect::history(&recorded(&events)),
        ..State::default()
    };
    assert!(codeact_user_response(&late).contains("give up"));
    assert!(codeact_user_response_with(&late, true, |_| None).contains("<solution>"));
    let answered = |said: &str| Some(said.to_owned());
    assert_eq!(codeact_user_response_with(&late, false, answered), "/exit");
}

fn line(result: Result<&Verdict, &Fault>) -> TrialLine {
    let trial = TrialId {
        task: TaskId::parse("qa/one").unwrap(),
        epoch: 1,
    };
    let (events, key) = (EventsAt::default(), Digest::of(b""));
    let at = "2026-11-16T10:00:00Z".parse().unwrap();
    TrialLine {
        end: Some(TurnEnd::Finished),
        steps: 4,
        seconds: TimeSplit {
            agent: 1.0,
            environment: 2.0,
            harness: 0.5,
        },
        ..TrialLine::new(trial, 1, result, events, key, at)
    }
}

fn verdict(passed: bool) -> Verdict {
    let check = CheckResult {
        score: 0.5,
        ..CheckResult::plain("answer", passed, "")
    };
    Verdict {
        passed,
        score: 0.5,
        checks: vec![check],
    }
}

#[test]
fn a_trial_becomes_a_row() {
    let root = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(root.path());
    let writer = RunWriter::open(&folder).unwrap();
    let keep = |what: &str, text: &str| match writer.keep(&mut text.as_bytes(), 1 << 20).unwrap() {
        Stored::As { digest, bytes } => {
            let kept = Kept {
                what: what.to_owned(),
                blob: digest,
                bytes,
            };
            (Source::Harness, None, EventBody::Kept(kept))
        }
        Stored::TooLarge => panic!("it is small"),
    };
    let mut events = conversation();
    events.extend(record_of(vec![
        keep("patch", "diff --git a/x b/x\n"),
        keep("file:out.txt", "42\n"),
        keep("work", "not a file"),
        (Source::Grader, None, EventBody::Verdict(verdict(true))),
    ]));
    let record = crate::dialect::Record {
        bodies: &folder,
        ..recorded(&events)
    };
    let graded = line(Ok(&verdict(true)));
    let instance = json!({ "instance_id": "django-1", "patch": "gold" });
    let played = Played {
        line: &graded,
        name: "a task",
        record,
        metadata: None,
        instance: instance.as_object(),
        max_budget: None,
    };
    let row = eval_output_of(&played);
    assert_eq!(row.instance_id, "django-1");
    assert_eq!(row.test_result["resolved"], true);
    assert_eq!(row.test_result["score"], 0.5);
    assert_eq!(row.test_result["git_patch"], "diff --git a/x b/x\n");
    assert_eq!(row.test_result["files"], json!({ "out.txt": "42\n" }));
    assert_eq!(row.test_result["checks"][0]["check"], "answer");
    assert_eq!(
        (row.error.as_deref(), row.instruction.as_deref()),
        (None, Some("Say hello."))
    );
    assert_eq!(
        row.metrics
            .as_ref()
            .unwrap()
            .condenser
            .as_ref()
            .unwrap()
            .len(),
        1
    );
    let text = serde_json::to_string(&row).unwrap();
    assert_eq!(serde_json::from_str::<EvalOutput>(&text).unwrap(), row);
    let paired = row.paired();
    assert!(matches!(paired.history, Some(History::Pairs(_))));
    let text = serde_json::to_string(&paired).unwrap();
    assert_eq!(serde_json::from_str::<EvalOutput>(&text).unwrap(), paired);

    let fault = Fault::new(FaultClass::Environment, "it is gone");
    let faulted = line(Err(&fault));
    let row = eval_output_of(&Played {
        line: &faulted,
        instance: None,
        ..played
    });
    assert_eq!(
        (row.instance_id.as_str(), row.test_result.len()),
        ("one", 0)
    );
    assert_eq!(
        row.error.as_deref(),
        Some("AgentRuntimeDisconnectedError: it is gone")
    );
    assert!(!row.is_graded());
}

/// Programs of others read these rows: a change here breaks them.
#[test]
fn a_whole_row_is_written_as_ever() {
    let mut events = conversation();
    let graded = (Source::Grader, None, EventBody::Verdict(verdict(false)));
    events.extend(record_of(vec![graded]));
    let failed = line(Ok(&verdict(false)));
    let llm = json!({ "model": "gpt-4o", "api_key": "hush-hush" });
    let metadata = EvalMetadata {
        agent_class: "CodeActAgent".to_owned(),
        llm_config: llm.as_object().cloned().unwrap(),
        max_iterations: 30,
        start_time: "2026-11-16 10:00:00".to_owned(),
        ..EvalMetadata::default()
    };
    let instance = json!({ "instance_id": "one", "question": "6 x 7?" });
    let row = eval_output_of(&Played {
        line: &failed,
        name: "one",
        record: recorded(&events),
        metadata: Some(&metadata),
        instance: instance.as_object(),
        max_budget: None,
    });
    let mut text = serde_json::to_string(&row).unwrap();
    text.push('\n');
    assert_eq!(text, include_str!("../../tests/golden/output.jsonl"));
    let back: EvalOutput = serde_json::from_str(&text).unwrap();
    assert_eq!(back.history, row.history);
}

#[test]
fn the_report_of_open_world_agents_has_a_line_per_trial() {
    let mut faulted = line(Err(&Fault::new(FaultClass::Model, "down")));
    faulted.epoch = 2;
    let mut replaced = line(Ok(&verdict(false)));
    replaced.is_final = false;
    let lines = [line(Ok(&verdict(true))), replaced, faulted];
    let mut text = Vec::new();
    assert_eq!(export_owa(&lines, &mut text).unwrap(), 2);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "{\"task_id\":\"qa/one\",\"metrics\":{\"score\":0.5,\"steps\":4,\"success\":true,\"task_elapsed_time\":3.0},\"notes\":\"finished\"}\n\
         {\"task_id\":\"qa/one\",\"metrics\":{\"epoch\":2,\"score\":-1.0,\"steps\":4,\"success\":false,\"task_elapsed_time\":3.0},\"notes\":\"model: down\"}\n"
    );
}

#[test]
fn clones_of_an_instance_share_its_row() {
    let instance = Instance::new(dataset(1).remove(0), 1).unwrap();
    assert_eq!(instance.clone(), instance);
    assert_eq!(instance.get("x"), Some(&json!(1)));
    assert_eq!(instance.text("x"), None);
    let _: Arc<Instance> = Arc::new(instance);
}

proptest! {
    #[test]
    fn whatever_was_torn_a_writer_goes_on(
        rows in proptest::collection::vec(("[a-c]", any::<bool>()), 0..12), cut in 0usize..80,
    ) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("output.jsonl");
        let mut writer = OutputWriter::open(&path).unwrap();
        for (id, graded) in &rows {
            writer.append(&if *graded { row(id) } else { failed(id) }).unwrap();
        }
        drop(writer);
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len().saturating_sub(cut)]).unwrap();
        let before = ids(&path);
        let mut writer = OutputWriter::open(&path).unwrap();
        writer.append(&row("z")).unwrap();
        prop_assert_eq!(ids(&path), [before, vec!["z".to_owned()]].concat());
        // An instance never has more than one row without a result.
        for id in ["a", "b", "c"] {
            let rows = read_output(&path).unwrap();
            let without = rows.iter().filter(|row| row.instance_id == id && !row.is_graded());
            prop_assert!(without.count() <= 1);
        }
    }
}
