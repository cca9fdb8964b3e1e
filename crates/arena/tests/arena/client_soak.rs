//! Many tasks over one pair of servers, with all that agents and evaluators may do wrong.

use std::fs;
use std::thread::park_timeout;
use std::time::Duration;

use agon_arena::{
    AgentServer, ClientOptions, EvaluationResult, Evaluator, EvaluatorServer, JudgeError, Judging,
    ServerOptions, Task, run_evaluation_client_async,
};
use agon_desktop::{Desktop, DesktopConfig};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::client_support::Player;
use super::evaluator_support::task;

/// Does what a task asks for in `success_criteria.HOOK`, and keeps nothing.
struct Judge;

impl Judge {
    fn act(hook: &str, task: &Task) -> Result<bool, JudgeError> {
        let script = task.success_criteria.get(hook).and_then(Value::as_str);
        match script {
            Some("error") => Err(JudgeError::Evaluator("on purpose".to_owned())),
            Some("panic") => panic!("on purpose"),
            // Comes back when the task may long be over.
            Some("slow") => {
                park_timeout(Duration::from_millis(60));
                Ok(false)
            }
            script => Ok(script != Some("end")),
        }
    }
}

impl Evaluator for Judge {
    fn setup_environment(&self, _: &Task, _: &Judging) -> Result<(), JudgeError> {
        Ok(())
    }

    fn check_env_continue(&self, task: &Task, _: &Judging) -> Result<bool, JudgeError> {
        Self::act("check", task)
    }

    fn check_env_continue_timer(&self, task: &Task, _: &Judging) -> Result<bool, JudgeError> {
        Self::act("timer", task)
    }

    fn score_task(
        &self,
        task: &Task,
        _: Duration,
        note: &str,
        _: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        Self::act("score", task)?;
        Ok(EvaluationResult {
            task_id: task.task_id.clone(),
            metrics: Map::from_iter([("success".to_owned(), json!(true))]),
            notes: Some(note.to_owned()),
        })
    }
}

/// What may happen in a task, and with which reasons it may end.
fn scenario(random: &mut StdRng) -> (Value, &'static [&'static str]) {
    match random.random_range(0..100) {
        0..30 => (json!({ "agent": "finish" }), &["finished"]),
        30..40 => (json!({ "agent": "fail" }), &["agent_error"]),
        40..45 => (json!({ "agent": "panic" }), &["agent_error"]),
        45..50 => (json!({ "agent": "operator" }), &["operator"]),
        50..60 => (json!({ "check": "end" }), &["env_ended"]),
        60..68 => (json!({ "timer": "slow" }), &["env_ended"]),
        68..78 => (
            json!({ "agent": "finish", "timer": "slow", "check": "slow" }),
            // Which is first is up to the machine.
            &["finished", "env_ended"],
        ),
        78..84 => (json!({ "check": "error" }), &["evaluator_error"]),
        84..88 => (json!({ "timer": "panic" }), &["evaluator_error"]),
        88..92 => (
            json!({ "check": "end", "score": "error" }),
            &["evaluator_error"],
        ),
        92..97 => (
            json!({ "agent": "finish", "check": "end", "timer": "end" }),
            &["finished", "env_ended"],
        ),
        // One that does not come back in time, and one whose time is up.
        97 => (json!({ "agent": "slow", "timer": "end" }), &["env_ended"]),
        _ => (json!({ "seconds": 1 }), &["timeout"]),
    }
}

fn resident_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_many_tasks_over_one_pair_of_servers() {
    over_one_pair_of_servers(100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_long_form_a_thousand_tasks_over_one_pair_of_servers() {
    over_one_pair_of_servers(1_000).await;
}

async fn over_one_pair_of_servers(count: usize) {
    // After so many, what is made once is there.
    let warm_after = count / 5;
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let options = ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::default()
    };
    let agent = AgentServer::start(|| Box::new(Player), &options).unwrap();
    let evaluator = EvaluatorServer::start(Judge, &options, None).unwrap();
    let mut random = StdRng::seed_from_u64(4);
    let scenarios: Vec<_> = (0..count).map(|_| scenario(&mut random)).collect();
    let tasks = scenarios.iter().enumerate().map(|(number, (criteria, _))| {
        let mut task = task(&format!("t{number}"), criteria.clone());
        if let Some(seconds) = criteria.get("seconds") {
            task["timeout"] = seconds.clone();
        }
        serde_json::from_value::<Task>(task).unwrap()
    });
    let client = ClientOptions {
        poll: Duration::from_millis(5),
        ..ClientOptions::default()
    };
    let (mut seen, mut warm) = (0, 0);
    let stop = CancellationToken::new();
    let done =
        run_evaluation_client_async(agent.url(), evaluator.url(), tasks, &client, &stop, |one| {
            let (criteria, reasons) = &scenarios[seen];
            let result = one.result.as_ref().unwrap();
            assert_eq!(result.task_id, format!("t{seen}"));
            let notes = result.notes.as_deref().unwrap();
            let is_meant = reasons.iter().any(|reason| notes.starts_with(reason));
            assert!(is_meant, "{criteria}: {notes}");
            seen += 1;
            if seen == warm_after {
                warm = resident_kilobytes();
            }
        })
        .await;
    assert_eq!(done.unwrap().len(), count);
    let grown = resident_kilobytes().saturating_sub(warm);
    assert!(
        grown < 24 << 10,
        "{grown} KB more than after {warm_after} tasks"
    );
    let threads = fs::read_dir("/proc/self/task").unwrap().count();
    assert!(threads < 100, "{threads} threads");
}
