//! What an evaluator server answers, state by state, and what it leaves behind.

use std::time::Duration;

use agon_agent::play::StopEvent;
use agon_arena::{
    EvaluationResult, Evaluator, EvaluatorExt, EvaluatorServer, JudgeError, Judging, Task,
};
use serde_json::{Value, json};

use super::evaluator_support::{Pair, Scripted, keys, options, task, until};

#[tokio::test(flavor = "multi_thread")]
async fn every_state_has_its_answers() {
    let evaluator = Scripted::default();
    let server = evaluator.clone().run_background("127.0.0.1", 0).unwrap();
    let pair = Pair::of(evaluator, server);
    let (status, said) = pair.get("/evaluator/status").await;
    assert_eq!(
        (status, said),
        (200, json!({ "state": "INIT", "current_task": null }))
    );
    assert_eq!(pair.results().await, (204, Value::Null));
    assert_eq!(pair.begin(task("a", json!({}))).await.0, 400);
    assert_eq!(pair.finished(None).await.0, 400);
    let abort = "/evaluator/evaluation/abort";
    assert_eq!(pair.post(abort, None).await.0, 400);
    assert_eq!(pair.post("/evaluator/register_agent", None).await.0, 422);
    let nowhere = json!({ "agent_url": "file:///etc/passwd" });
    assert_eq!(
        pair.post("/evaluator/register_agent", Some(nowhere))
            .await
            .0,
        400
    );

    let (status, said) = pair.register().await;
    assert_eq!((status, &said["success"]), (200, &json!(true)));
    assert_eq!(pair.register().await.0, 200, "again, as long as it is idle");
    assert_eq!(pair.state().await, "READY");

    assert_eq!(pair.begin(task("a", json!({}))).await.0, 200);
    let (_, status) = pair.get("/evaluator/status").await;
    assert_eq!(status["state"], "EVALUATING");
    assert_eq!(status["current_task"]["num_frames"], 3, "with its defaults");
    assert_eq!(pair.register().await.0, 400);
    assert_eq!(pair.begin(task("b", json!({}))).await.0, 400);
    assert_eq!(pair.results().await.0, 204);
    let of = |id: &str| format!("/evaluator/evaluation/results/{id}");
    assert_eq!(pair.get(&of("a")).await.0, 204);
    assert_eq!(pair.get(&of("b")).await.0, 404);

    let other = json!({ "task_id": "b" });
    assert_eq!(pair.post(abort, Some(other)).await.0, 400, "not that one");
    assert_eq!(pair.post(abort, None).await.0, 200);
    assert_eq!(pair.record("a").await["stop_reason"], "operator");
    let (status, result) = pair.results().await;
    assert_eq!(status, 200);
    assert_eq!(keys(&result), ["metrics", "notes", "task_id"]);
    pair.until_state("READY").await;
    assert_eq!(pair.agent.state(), "READY");
    let (status, said) = pair.begin(task("a", json!({}))).await;
    assert_eq!(status, 500, "{said}");
    assert!(said["error"].as_str().unwrap().contains("id"));

    assert_eq!(pair.post("/evaluator/reset", None).await.0, 200);
    let (_, status) = pair.get("/evaluator/status").await;
    assert_eq!(status, json!({ "state": "INIT", "current_task": null }));
    assert_eq!(pair.results().await.0, 204);
    assert_eq!(pair.register().await.0, 200);
    pair.evaluate(task("a", json!({ "check": "end" }))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_in_the_set_up_and_a_reset_in_the_play_leave_nothing_running() {
    let pair = Pair::start().await;
    let (begun, ()) = tokio::join!(pair.begin(task("a", json!({ "setup": "wait" }))), async {
        let entered = async |()| pair.evaluator.has_entered("setup", "a").then_some(());
        until(entered).await;
        assert_eq!(pair.post("/evaluator/evaluation/abort", None).await.0, 200);
    });
    assert_eq!(begun.0, 500);
    assert!(begun.1["error"].as_str().unwrap().contains("operator"));
    assert_eq!(pair.state().await, "READY");
    assert_eq!(*pair.agent.seen.starts.lock().unwrap(), 0);
    // Its hook comes back when nobody waits for it.
    pair.evaluator.door("a").open();
    until(async |()| (pair.evaluator.count("setup", "a") == 1).then_some(())).await;

    assert_eq!(pair.begin(task("b", json!({}))).await.0, 200);
    assert_eq!(pair.post("/evaluator/reset", None).await.0, 200);
    assert_eq!(pair.state().await, "INIT");
    assert_eq!(pair.agent.state(), "READY");
    assert_eq!(pair.evaluator.count("score", "b"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_is_written_before_the_result_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("deep/er/report.jsonl");
    let pair = Pair::reporting(Some(report.clone())).await;
    for (number, id) in ["a", "b", "c"].into_iter().enumerate() {
        let criteria = json!({ "agent": "finish" });
        assert_eq!(pair.begin(task(id, criteria)).await.0, 200);
        let result = until(async |()| match pair.results().await {
            (200, result) => Some(result),
            _ => None,
        })
        .await;
        let lines = std::fs::read_to_string(&report).unwrap();
        assert_eq!(lines.lines().count(), number + 1);
        let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(last, result);
        assert_eq!(keys(&last), ["metrics", "notes", "task_id"]);
    }
    let side = std::fs::read_to_string(report.with_file_name("report.agon.jsonl")).unwrap();
    let side: Vec<Value> = side
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(side.len(), 3);
    assert_eq!(side[2]["task"]["task_id"], "c");
    assert_eq!(side[2]["stop_reason"], "finished");
    assert!(side[2]["times"]["play"].as_f64().unwrap() >= 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_cannot_be_written_costs_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let pair = Pair::reporting(Some(file.join("report.jsonl"))).await;
    let record = pair.evaluate(task("a", json!({ "check": "end" }))).await;
    let notes = record["notes"].as_str().unwrap();
    assert!(notes.contains("the report could not be written"), "{notes}");
    assert_eq!(record["metrics"]["score"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn state_changes_are_told_as_they_come() {
    let pair = Pair::start().await;
    let url = format!("{}/evaluator/events", pair.server.url());
    let mut stream = pair.http.get(url).send().await.unwrap();
    let kind = stream.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(kind.starts_with("text/event-stream"), "{kind}");
    assert_eq!(
        pair.begin(task("a", json!({ "check": "wait_end" })))
            .await
            .0,
        200
    );
    let mut told = String::new();
    let mut wait_for = async |wanted: &str| {
        while !told.contains(wanted) {
            let chunk = tokio::time::timeout(Duration::from_secs(30), stream.chunk()).await;
            told += std::str::from_utf8(&chunk.unwrap().unwrap().unwrap()).unwrap();
        }
    };
    wait_for("EVALUATING").await;
    pair.evaluator.door("a").open();
    wait_for("\"reason\":\"env_ended\"").await;
}

/// Has a switch for the operator.
struct Switched {
    stop: StopEvent,
}

impl Evaluator for Switched {
    fn setup_environment(&self, _: &Task, _: &Judging) -> Result<(), JudgeError> {
        Ok(())
    }

    fn score_task(
        &self,
        task: &Task,
        _: Duration,
        note: &str,
        _: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        Ok(EvaluationResult {
            task_id: task.task_id.clone(),
            metrics: serde_json::Map::new(),
            notes: Some(note.to_owned()),
        })
    }

    fn stop_event(&self) -> Option<StopEvent> {
        Some(self.stop.clone())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stop_event_is_the_operators_and_a_desktop_that_was_asked_for_must_be_there() {
    let stop = StopEvent::new();
    // A display that is not there.
    let nowhere = agon_desktop::DisplayAddress::Named(":4999".to_owned());
    for desktop in [None, Some(nowhere)] {
        let explicit = desktop.is_some();
        let mut options = options();
        options.desktop = desktop;
        let switched = Switched { stop: stop.clone() };
        let server = EvaluatorServer::start(switched, &options, None).unwrap();
        let pair = Pair::of(Scripted::default(), server);
        assert_eq!(pair.register().await.0, 200);
        stop.set();
        let (status, said) = pair.begin(task("a", json!({}))).await;
        if explicit {
            // One was asked for, so it has to be there.
            assert_eq!(status, 500);
            assert!(
                said["error"].as_str().unwrap().contains("no desktop"),
                "{said}"
            );
            continue;
        }
        assert_eq!(status, 200, "{said}");
        assert_eq!(
            pair.state().await,
            "EVALUATING",
            "it was set before the task"
        );
        stop.set();
        assert_eq!(pair.record("a").await["stop_reason"], "operator");
        assert_eq!(pair.agent.stops().len(), 1);
    }
}
