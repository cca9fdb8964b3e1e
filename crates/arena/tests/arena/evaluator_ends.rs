//! How rounds end when something is slow, in the way or about to go: the server itself, the agent, the
//! evaluator's hooks, the disk.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde_json::{Value, json};

use super::evaluator_agent::FakeAgent;
use super::evaluator_support::{Pair, task, until};

const ABORT: &str = "/evaluator/evaluation/abort";

/// Stops the server; the agent and the report stay.
async fn end(pair: Pair) -> FakeAgent {
    let Pair { client, agent, .. } = pair;
    let stopping = tokio::task::spawn_blocking(move || client.server.stop());
    stopping.await.unwrap();
    agent
}

fn lines(report: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(report).unwrap_or_default();
    let parsed = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    parsed.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_stopped_in_mid_play_scores_reports_and_stops_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    // The agent is in the middle of a step; its answer to the start is not there yet; it just plays.
    for (id, criteria) in [
        ("step", json!({ "agent_ms": 400 })),
        ("late", json!({ "answer_ms": 300 })),
        ("plain", json!({})),
    ] {
        let report = folder.path().join(format!("{id}.jsonl"));
        let pair = Pair::reporting(Some(report.clone())).await;
        let begin = pair.begin(task(id, criteria));
        if id == "late" {
            // Who asks for the start hangs up as soon as it plays.
            tokio::select! {
                begun = begin => panic!("{begun:?}"),
                () = until(async |()| (pair.agent.state() == "RUNNING").then_some(())) => {}
            }
        } else {
            assert_eq!(begin.await.0, 200);
        }
        let agent = end(pair).await;
        assert_eq!(agent.state(), "READY", "{id}");
        assert_eq!(agent.stops().len(), 1, "{id}");
        let lines = lines(&report);
        assert_eq!(lines.len(), 1, "{id}");
        assert_eq!(lines[0]["task_id"], id);
        assert_eq!(lines[0]["metrics"]["score"], 1, "it was scored");
        let notes = lines[0]["notes"].as_str().unwrap();
        assert!(
            notes.starts_with("operator: the server was stopped"),
            "{notes}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_stopped_while_it_scores_writes_that_down() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.jsonl");
    let pair = Pair::reporting(Some(report.clone())).await;
    let criteria = json!({ "agent": "finish", "score": "wait" });
    assert_eq!(pair.begin(task("a", criteria)).await.0, 200);
    until(async |()| pair.evaluator.has_entered("score", "a").then_some(())).await;
    let door = pair.evaluator.door("a");
    let opening = tokio::spawn(async move {
        // Longer than a runtime that ends waits for its tasks.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        door.open();
    });
    end(pair).await;
    opening.await.unwrap();
    assert_eq!(lines(&report).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_that_has_no_result_in_time_does_not_say_that_all_is_well() {
    let pair = Pair::start().await;
    assert_eq!(
        pair.begin(task("a", json!({ "score": "wait" }))).await.0,
        200
    );
    let (status, said) = pair.post(ABORT, None).await;
    assert_eq!((status, &said["success"]), (500, &json!(false)));
    pair.evaluator.door("a").open();
    assert_eq!(pair.record("a").await["stop_reason"], "operator");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_may_use_ids_again_and_the_newest_result_is_read() {
    let pair = Pair::start().await;
    pair.evaluate(task("a", json!({ "check": "end" }))).await;
    pair.evaluate(task("b", json!({ "check": "end" }))).await;
    pair.until_state("READY").await;
    assert_eq!(pair.begin(task("a", json!({}))).await.0, 500, "not yet");
    assert_eq!(pair.register().await.0, 200);
    assert_eq!(pair.record("a").await["stop_reason"], "env_ended");
    assert_eq!(pair.begin(task("a", json!({}))).await.0, 200);
    let of_it = "/evaluator/evaluation/results/a";
    assert_eq!(pair.get(of_it).await.0, 204, "the old one is not meant");
    assert_eq!(pair.post(ABORT, None).await.0, 200);
    assert_eq!(pair.record("a").await["stop_reason"], "operator");
    assert_eq!(pair.record("b").await["stop_reason"], "env_ended");
    pair.until_state("READY").await;
    assert_eq!(pair.begin(task("a", json!({}))).await.0, 500, "used again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_names_its_task_and_an_agent_that_plays_another_is_lost_and_not_stopped() {
    let pair = Pair::start().await;
    pair.evaluate(task("a", json!({ "check": "end" }))).await;
    let bodies = pair.agent.seen.stop_bodies.lock().unwrap().clone();
    assert_eq!(bodies, [json!({ "task_id": "a" })]);
    pair.until_state("READY").await;
    assert_eq!(pair.begin(task("b", json!({}))).await.0, 200);
    pair.agent.play_other("theirs");
    let record = pair.record("b").await;
    assert_eq!(record["stop_reason"], "agent_lost", "{record}");
    assert!(record["error"].as_str().unwrap().contains("theirs"));
    pair.until_state("READY").await;
    assert_eq!(pair.agent.stops().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_failed_looks_are_no_reason_to_stop_an_agent_that_comes_to_rest() {
    let pair = Pair::start().await;
    let criteria = json!({ "agent": "finish", "rest_ms": 600, "failing_looks": 2 });
    pair.evaluate(task("a", criteria)).await;
    pair.until_state("READY").await;
    assert_eq!(pair.agent.state(), "READY", "both are at rest");
    assert!(pair.agent.stops().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_starts_the_next_task_waits_longer_than_an_agent_is_waited_for() {
    let pair = Pair::start().await;
    // It says that it has finished, plays on, and does not stop when it is told to.
    let criteria = json!({ "agent": "finish", "rest_ms": 8000 });
    pair.evaluate(task("a", criteria)).await;
    let (status, said) = pair.begin(task("b", json!({}))).await;
    assert_eq!(status, 500, "{said}");
    assert!(
        said["error"].as_str().unwrap().contains("not READY"),
        "{said}"
    );
    assert_eq!(pair.agent.stops().len(), 1);
}

/// A pipe that nobody reads, and that takes no further byte.
fn full_pipe(path: &Path) -> File {
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(flags);
    let mut pipe = options.open(path).unwrap();
    loop {
        match pipe.write(&[b'x'; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return pipe,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_does_not_answer_costs_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.jsonl");
    let mut pipe = full_pipe(&report);
    let pair = Pair::reporting(Some(report)).await;
    let record = pair.evaluate(task("a", json!({ "check": "end" }))).await;
    let notes = record["notes"].as_str().unwrap();
    assert!(notes.contains("the report could not be written"), "{notes}");
    assert_eq!(record["metrics"]["score"], 1);
    // Whoever still writes can end.
    while pipe.read(&mut [0; 1 << 16]).is_ok() {}
}
