//! `run_evaluation` with work that fails in every way there is.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::{Money, Usage};
use agon_llm::Budget;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::{EvalError, Evaluated, RunOptions, run_evaluation};
use crate::controller::Allotment;
use crate::eval::{EvalMetadata, EvalOutput, Instance, Selection, prepare_dataset, read_output};
use crate::metrics::Metrics;

fn dataset(ids: &[&str]) -> Vec<Map<String, Value>> {
    let row = |id: &&str| json!({ "instance_id": id }).as_object().unwrap().clone();
    ids.iter().map(row).collect()
}

fn row(instance: &Instance, metadata: &EvalMetadata) -> EvalOutput {
    EvalOutput {
        instance_id: instance.id(),
        test_result: Map::from_iter([("resolved".to_owned(), json!(true))]),
        instruction: None,
        metadata: Some(metadata.clone()),
        history: None,
        metrics: None,
        error: None,
        instance: Some(instance.row().clone()),
    }
}

/// A folder of results, and how often each instance was tried.
struct Place {
    folder: TempDir,
    tries: Arc<Mutex<HashMap<String, u32>>>,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            tries: Arc::default(),
        }
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output.jsonl")
    }

    /// The instances behave as their names say.
    async fn run(&self, ids: &[&str], options: RunOptions) -> Evaluated {
        let selection = Selection::default();
        let instances = prepare_dataset(dataset(ids), &self.output(), &selection).unwrap();
        let tries = Arc::clone(&self.tries);
        let work = move |instance: Instance, metadata: Arc<EvalMetadata>| {
            let tries = Arc::clone(&tries);
            async move {
                let id = instance.id();
                let tried = {
                    let mut tries = tries.lock().unwrap();
                    let tried = tries.entry(id.clone()).or_default();
                    *tried += 1;
                    *tried
                };
                match id.as_str() {
                    "fails" => Err(EvalError::Own("no luck".to_owned())),
                    "fails-twice" if tried < 3 => Err(EvalError::Fault("not yet".to_owned())),
                    "panics" => panic!("what a pity"),
                    "hangs" => std::future::pending().await,
                    _ => Ok(row(&instance, &metadata)),
                }
            }
        };
        let metadata = EvalMetadata::default();
        run_evaluation(instances, metadata, &self.output(), options, work)
            .await
            .unwrap()
    }

    fn tried(&self, id: &str) -> u32 {
        self.tries.lock().unwrap().get(id).copied().unwrap_or(0)
    }

    fn rows(&self) -> Vec<String> {
        let rows = read_output(&self.output()).unwrap();
        let mut ids: Vec<String> = rows.into_iter().map(|row| row.instance_id).collect();
        ids.sort();
        ids
    }
}

fn options() -> RunOptions {
    RunOptions {
        num_workers: 3,
        max_retries: 2,
        timeout: Duration::from_secs(3600),
        ..RunOptions::default()
    }
}

const ALL: [&str; 6] = ["panics", "fails", "hangs", "fails-twice", "one", "two"];

// Time stands still but for those who wait for it: no pause here lasts.
#[tokio::test(start_paused = true)]
async fn no_instance_ends_the_run_of_the_others() {
    let place = Place::new();
    let evaluated = place.run(&ALL, options()).await;
    assert_eq!(evaluated.finished, 3);
    assert_eq!(place.rows(), ["fails-twice", "one", "two"]);
    let failed: HashMap<String, String> = evaluated.failed.into_iter().collect();
    assert_eq!(failed.len(), 3);
    assert_eq!(failed["fails"], "no luck");
    assert_eq!(failed["hangs"], "took longer than 3600 s");
    assert!(
        failed["panics"].contains("its code panicked"),
        "{}",
        failed["panics"]
    );
    assert!(
        failed["panics"].contains("what a pity"),
        "{}",
        failed["panics"]
    );
}

#[tokio::test(start_paused = true)]
async fn failures_are_tried_again_and_time_outs_are_not() {
    let place = Place::new();
    place.run(&ALL, options()).await;
    let tried = ALL.map(|id| place.tried(id));
    assert_eq!(tried, [3, 3, 1, 3, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn what_has_no_result_is_told_and_taken_up_again() {
    let place = Place::new();
    let never = RunOptions {
        max_retries: 0,
        ..options()
    };
    place
        .run(&["fails", "fails-twice", "one"], never.clone())
        .await;
    assert_eq!(place.rows(), ["one"]);
    let told = std::fs::read_to_string(place.folder.path().join("maximum_retries_exceeded.jsonl"));
    let told = told.unwrap();
    let told: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(told.len(), 2);
    assert!(
        told.iter()
            .all(|line| line["error"].is_string() && line["timestamp"].is_string())
    );
    place
        .run(&["fails", "fails-twice", "one"], never.clone())
        .await;
    place.run(&["fails", "fails-twice", "one"], never).await;
    assert_eq!(place.rows(), ["fails-twice", "one"]);
    assert_eq!((place.tried("fails"), place.tried("one")), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn rows_are_written_as_they_come_and_by_one_run_only() {
    let place = Place::new();
    let output = place.output();
    let selection = Selection::default();
    let instances = prepare_dataset(dataset(&["first", "second"]), &output, &selection).unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let (file, count) = (output.clone(), Arc::clone(&seen));
    let work = move |instance: Instance, metadata: Arc<EvalMetadata>| {
        let (file, count) = (file.clone(), Arc::clone(&count));
        async move {
            if instance.id() == "second" {
                count.store(read_output(&file).unwrap().len(), Ordering::SeqCst);
                let second = run_evaluation(
                    Vec::new(),
                    EvalMetadata::default(),
                    &file,
                    RunOptions::default(),
                    |_, _| async { Err(EvalError::Own(String::new())) },
                );
                let refused = second.await.unwrap_err().to_string();
                assert!(refused.contains("another process"), "{refused}");
            }
            Ok(row(&instance, &metadata))
        }
    };
    let one = RunOptions::default();
    let run = run_evaluation(instances, EvalMetadata::default(), &output, one, work);
    let evaluated = run.await.unwrap();
    assert_eq!((evaluated.finished, evaluated.failed.len()), (2, 0));
    assert_eq!(
        seen.load(Ordering::SeqCst),
        1,
        "the first was there before the second began"
    );
}

/// So many tokens for a cent.
fn usage(tokens: u64) -> Usage {
    Usage {
        input_tokens: tokens,
        calls: 1,
        money: Some(Money::from_micros(10_000)),
        ..Usage::default()
    }
}

/// Every try costs 100 tokens; those of `fails` come to nothing, those of `late` but the third.
async fn paid(place: &Place, ids: &[&str], options: RunOptions) -> Evaluated {
    let selection = Selection::default();
    let instances = prepare_dataset(dataset(ids), &place.output(), &selection).unwrap();
    let tries = Arc::clone(&place.tries);
    let work = move |instance: Instance, metadata: Arc<EvalMetadata>| {
        let tries = Arc::clone(&tries);
        async move {
            Allotment::given().unwrap().account().add(&usage(100));
            let tried = {
                let mut tries = tries.lock().unwrap();
                let tried = tries.entry(instance.id()).or_default();
                *tried += 1;
                *tried
            };
            match instance.id().as_str() {
                "fails" => Err(EvalError::Own("no luck".to_owned())),
                "late" if tried < 3 => panic!("not yet"),
                _ => {
                    let mut row = row(&instance, &metadata);
                    row.metrics = Some(Metrics {
                        accumulated_cost: 0.5,
                        ..Metrics::default()
                    });
                    Ok(row)
                }
            }
        }
    };
    let metadata = EvalMetadata::default();
    let output = place.output();
    let run = run_evaluation(instances, metadata, &output, options, work);
    run.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn tries_that_came_to_nothing_are_paid_for_and_told() {
    let place = Place::new();
    let evaluated = paid(&place, &["late", "fails", "one"], options()).await;
    assert_eq!(evaluated.spent.calls, 3 + 3 + 1);
    let rows = read_output(&place.output()).unwrap();
    let of = |id: &str| {
        let row = rows.iter().find(|row| row.instance_id == id).unwrap();
        row.metrics.clone().unwrap()
    };
    let late = of("late");
    assert_eq!(late.accumulated_token_usage.prompt_tokens, 200);
    assert_eq!((late.costs.len(), late.token_usages.len()), (2, 2));
    assert!((late.accumulated_cost - 0.52).abs() < 1e-9);
    assert!((of("one").accumulated_cost - 0.5).abs() < 1e-9);
    let told = std::fs::read_to_string(place.folder.path().join("maximum_retries_exceeded.jsonl"));
    let told: Value = serde_json::from_str(told.unwrap().trim()).unwrap();
    assert_eq!(told["metrics"]["accumulated_cost"], json!(0.03));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_begun_when_the_budget_of_the_run_is_spent() {
    let place = Place::new();
    let little = RunOptions {
        num_workers: 1,
        budget: Budget {
            tokens: Some(150),
            money: None,
        },
        ..options()
    };
    let evaluated = paid(&place, &["one", "fails", "three"], little).await;
    assert_eq!(place.rows(), ["one"]);
    assert_eq!((place.tried("fails"), place.tried("three")), (1, 0));
    let why: Vec<&str> = evaluated.failed.iter().map(|(_, why)| &**why).collect();
    assert_eq!(why, ["the run's budget of tokens is spent"; 2]);
    // The third was never begun, and so has exceeded nothing.
    let told = std::fs::read_to_string(place.folder.path().join("maximum_retries_exceeded.jsonl"));
    assert_eq!(told.unwrap().lines().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_uses_all_of_its_turn_gets_its_row() {
    let place = Place::new();
    let selection = Selection::default();
    let dataset = dataset(&["sleeps", "hangs"]);
    let instances = prepare_dataset(dataset, &place.output(), &selection).unwrap();
    let work = |instance: Instance, metadata: Arc<EvalMetadata>| async move {
        let turn = Duration::from_secs(8 * 3600);
        Allotment::given().unwrap().begins_turn(turn);
        tokio::time::sleep(turn).await;
        if instance.id() == "hangs" {
            std::future::pending::<()>().await;
        }
        Ok(row(&instance, &metadata))
    };
    let metadata = EvalMetadata::default();
    let output = place.output();
    let run = run_evaluation(instances, metadata, &output, options(), work);
    let evaluated = run.await.unwrap();
    assert_eq!(place.rows(), ["sleeps"]);
    assert_eq!(
        evaluated.failed,
        [("hangs".to_owned(), "took longer than 32400 s".to_owned())]
    );
}

#[tokio::test]
async fn no_instance_outlives_its_run() {
    let place = Place::new();
    let selection = Selection::default();
    let instances = prepare_dataset(dataset(&["one"]), &place.output(), &selection).unwrap();
    let (begun, mut begins) = tokio::sync::mpsc::channel::<oneshot::Receiver<()>>(1);
    let work = move |_: Instance, _: Arc<EvalMetadata>| {
        let begun = begun.clone();
        async move {
            let (_held, dropped) = oneshot::channel();
            begun.send(dropped).await.unwrap();
            std::future::pending().await
        }
    };
    let output = place.output();
    let run = run_evaluation(
        instances,
        EvalMetadata::default(),
        &output,
        RunOptions::default(),
        work,
    );
    let dropped = tokio::select! {
        _ = run => panic!("it never ends"),
        dropped = begins.recv() => dropped.unwrap(),
    };
    dropped.await.unwrap_err();
}
