//! Many tasks over one pair of servers, with all that can go wrong.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use super::evaluator_support::{Pair, task, until};

const TASKS: usize = 200;

/// What may happen in a task, and with which reasons it may end.
fn scenario(random: &mut StdRng) -> (Value, &'static [&'static str]) {
    let ms = random.random_range(0..20);
    match random.random_range(0..9) {
        0 => (json!({ "agent": "finish", "agent_ms": ms }), &["finished"]),
        1 => (
            json!({ "agent": "crash", "agent_ms": ms }),
            &["agent_error"],
        ),
        2 => (json!({ "check": "end", "agent_ms": ms }), &["env_ended"]),
        3 => (json!({ "timer": "end" }), &["env_ended"]),
        4 => (json!({ "check": "error" }), &["evaluator_error"]),
        5 => (
            json!({ "timer": "panic", "agent": "finish" }),
            &["evaluator_error", "finished"],
        ),
        6 => (
            json!({ "timer": "end", "score": "error" }),
            &["evaluator_error"],
        ),
        // A check that comes back when the next task is played.
        7 => (
            json!({ "agent": "finish", "timer": "wait_end", "agent_ms": ms }),
            &["finished"],
        ),
        // Everything at the same time.
        _ => (
            json!({ "agent": "finish", "check": "end", "timer": "end" }),
            &["finished", "env_ended"],
        ),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_one_of_many_tasks_has_exactly_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.jsonl");
    let pair = Pair::reporting(Some(report.clone())).await;
    let mut random = StdRng::seed_from_u64(4);
    let mut left = Vec::new();
    for number in 0..TASKS {
        let id = format!("task-{number}");
        let (criteria, reasons) = scenario(&mut random);
        if criteria["timer"] == "wait_end" {
            left.push(id.clone());
        }
        let (status, said) = pair.begin(task(&id, criteria.clone())).await;
        assert_eq!(status, 200, "{id} {criteria}: {said}");
        // Late checks of some earlier tasks come back now.
        if left.len() > 3 {
            for late in left.drain(..3) {
                pair.evaluator.door(&late).open();
            }
        }
        let record = pair.record(&id).await;
        let reason = record["stop_reason"].as_str().unwrap();
        assert!(reasons.contains(&reason), "{id} {criteria}: {record}");
        assert!(pair.evaluator.count("score", &id) <= 1);
    }
    for late in left {
        pair.evaluator.door(&late).open();
    }
    pair.until_state("READY").await;
    until(async |()| (pair.agent.state() == "READY").then_some(())).await;
    let lines = std::fs::read_to_string(report).unwrap();
    let mut ids: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["task_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), TASKS);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), TASKS);
}
