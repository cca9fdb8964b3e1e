//! The reproduced bugs of the original that were the evaluator's, each with its number.

use std::time::{Duration, Instant};

use serde_json::json;

use super::evaluator_support::{Pair, task, until};

#[tokio::test(flavor = "multi_thread")]
async fn r01_a_start_right_after_a_finish_waits_for_the_agent() {
    let pair = Pair::start().await;
    for number in 0..15 {
        let id = format!("t{number}");
        // The agent is RUNNING for a while after it has said that it has finished.
        let criteria = json!({ "agent": "finish", "rest_ms": 80 });
        let record = pair.evaluate(task(&id, criteria)).await;
        assert_eq!(record["stop_reason"], "finished");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r02_a_late_check_of_an_earlier_task_ends_nothing() {
    let pair = Pair::start().await;
    // Its timed check hangs, and says at last that the environment has ended.
    let criteria = json!({ "agent": "finish", "agent_ms": 100, "timer": "wait_end" });
    let first = pair.evaluate(task("first", criteria)).await;
    assert_eq!(first["stop_reason"], "finished");
    assert_eq!(pair.begin(task("second", json!({}))).await.0, 200);
    pair.evaluator.door("first").open();
    until(async |()| (pair.evaluator.count("timer", "first") == 1).then_some(())).await;
    // Two checks after that, the second task still goes on.
    let checks = pair.evaluator.count("timer", "second");
    until(async |()| (pair.evaluator.count("timer", "second") > checks + 1).then_some(())).await;
    assert_eq!(pair.state().await, "EVALUATING");
    let said = pair.finished(Some(json!({ "task_id": "second" }))).await;
    assert_eq!(said.0, 200);
    assert_eq!(pair.record("second").await["stop_reason"], "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn r03_a_score_that_fails_is_a_result_and_no_stuck_state() {
    let pair = Pair::start().await;
    for (id, script) in [("a", "error"), ("b", "panic")] {
        let criteria = json!({ "check": "end", "score": script });
        let record = pair.evaluate(task(id, criteria)).await;
        assert_eq!(record["stop_reason"], "evaluator_error");
        assert_eq!(record["metrics"]["success"], false);
        assert_eq!(record["metrics"]["score"], -1);
        assert!(record["metrics"]["task_elapsed_time"].is_number());
        assert!(
            record["notes"]
                .as_str()
                .unwrap()
                .contains("evaluator_error")
        );
        assert!(record["notes"].as_str().unwrap().contains("env_ended"));
        let (status, result) = pair.results().await;
        assert_eq!((status, &result["metrics"]["score"]), (200, &json!(-1)));
        pair.until_state("READY").await;
    }
    let well = pair.evaluate(task("c", json!({ "check": "end" }))).await;
    assert_eq!(well["metrics"]["score"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn r04_a_check_that_fails_is_a_result_and_stops_the_agent() {
    let pair = Pair::start().await;
    for (number, hook) in ["check", "timer"].into_iter().enumerate() {
        for script in ["error", "panic"] {
            let id = format!("{hook}-{script}");
            let record = pair.evaluate(task(&id, json!({ hook: script }))).await;
            assert_eq!(record["stop_reason"], "evaluator_error", "{record}");
            assert!(record["error"].as_str().unwrap().contains("on purpose"));
            assert_eq!(pair.evaluator.count("score", &id), 0);
            pair.until_state("READY").await;
            assert_eq!(pair.agent.state(), "READY");
        }
        assert_eq!(pair.agent.stops().len(), 2 * (number + 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r06_an_agent_that_crashes_or_dies_is_seen_long_before_the_time_is_up() {
    let pair = Pair::start().await;
    let record = pair.evaluate(task("a", json!({ "agent": "crash" }))).await;
    assert_eq!(record["stop_reason"], "agent_error");
    assert_eq!(record["metrics"]["score"], 1, "it is scored as it stands");
    assert_eq!(
        pair.begin(task("b", json!({ "agent": "die" }))).await.0,
        200
    );
    pair.agent.died().await;
    pair.agent.die();
    let record = pair.record("b").await;
    assert_eq!(record["stop_reason"], "agent_lost");
    pair.until_state("READY").await;
    let (status, said) = pair.begin(task("c", json!({}))).await;
    assert_eq!(status, 500, "{said}");
    pair.agent.come_back().await;
    let record = pair.evaluate(task("c", json!({ "agent": "finish" }))).await;
    assert_eq!(record["stop_reason"], "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn r07_the_time_of_play_ends_with_the_decision_whatever_the_agent_takes_to_stop() {
    let pair = Pair::start().await;
    let before = Instant::now();
    // It takes longer to stop than it is waited for.
    let criteria = json!({ "check": "wait_end", "agent_ms": 1500 });
    assert_eq!(pair.begin(task("a", criteria)).await.0, 200);
    pair.evaluator.door("a").open();
    let record = pair.record("a").await;
    let asked = pair.agent.stops()[0];
    let played = record["metrics"]["task_elapsed_time"].as_f64().unwrap();
    assert!(played <= asked.duration_since(before).as_secs_f64());
    assert_eq!(
        record["times"]["play"],
        record["metrics"]["task_elapsed_time"]
    );
    assert!(record["times"]["stop"].as_f64().unwrap() >= 0.9);
    // The next one begins when the agent is there again, and nobody is refused.
    let record = pair.evaluate(task("b", json!({ "check": "end" }))).await;
    assert_eq!(record["stop_reason"], "env_ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn r10_a_start_that_fails_takes_the_last_result_away() {
    let pair = Pair::start().await;
    pair.evaluate(task("a", json!({ "check": "end" }))).await;
    assert_eq!(pair.results().await.0, 200);
    pair.until_state("READY").await;
    let (status, said) = pair.begin(task("b", json!({ "setup": "error" }))).await;
    assert_eq!((status, &said["success"]), (500, &json!(false)));
    assert!(
        said["error"]
            .as_str()
            .unwrap()
            .contains("broken on purpose")
    );
    assert_eq!(pair.results().await.0, 204);
    assert_eq!(*pair.agent.seen.starts.lock().unwrap(), 1);
    let (_, status) = pair.get("/evaluator/status").await;
    assert_eq!(status["current_task"]["task_id"], "a", "the last that was");
    // It is still found by its name.
    assert_eq!(pair.record("a").await["stop_reason"], "env_ended");
    assert_eq!(pair.state().await, "READY");
}

#[tokio::test(flavor = "multi_thread")]
async fn r11_the_time_limit_of_an_earlier_task_is_gone_with_it() {
    let pair = Pair::start().await;
    let mut short = task("short", json!({ "agent": "finish" }));
    // Enough for a busy machine to finish it.
    short["timeout"] = json!(5);
    let limit_is_over = Instant::now() + Duration::from_secs(6);
    assert_eq!(pair.evaluate(short).await["stop_reason"], "finished");
    assert_eq!(pair.begin(task("long", json!({}))).await.0, 200);
    tokio::time::sleep_until(limit_is_over.into()).await;
    assert_eq!(pair.state().await, "EVALUATING");
    pair.finished(Some(json!({ "task_id": "long" }))).await;
    assert_eq!(pair.record("long").await["stop_reason"], "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn r12_an_agent_that_may_have_been_started_is_stopped_when_the_start_fails() {
    let pair = Pair::start().await;
    let (status, said) = pair.begin(task("a", json!({ "agent": "mumble" }))).await;
    assert_eq!(status, 500, "{said}");
    assert_eq!(pair.agent.stops().len(), 1);
    until(async |()| (pair.agent.state() == "READY").then_some(())).await;
    assert_eq!(pair.results().await.0, 204);
    assert_eq!(pair.evaluator.count("score", "a"), 0);
    let record = pair.evaluate(task("a", json!({ "check": "end" }))).await;
    assert_eq!(record["stop_reason"], "env_ended", "the id was not used up");
}

#[tokio::test(flavor = "multi_thread")]
async fn r13_who_says_finished_must_mean_this_task() {
    let pair = Pair::start().await;
    assert_eq!(pair.finished(None).await.0, 400, "nothing is evaluated");
    assert_eq!(pair.begin(task("a", json!({}))).await.0, 200);
    let late = pair.finished(Some(json!({ "task_id": "before" }))).await;
    assert_eq!(late.0, 400);
    // Without a name it counts only while the agent says that it has this task.
    pair.agent.forget_task();
    assert_eq!(pair.finished(None).await.0, 400);
    assert_eq!(pair.state().await, "EVALUATING");
    assert_eq!(pair.finished(Some(json!({ "task_id": "a" }))).await.0, 200);
    assert_eq!(pair.results().await.0, 200, "it was scored within the call");
    assert_eq!(pair.finished(Some(json!({ "task_id": "a" }))).await.0, 400);
    assert_eq!(pair.evaluator.count("score", "a"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_numbers_that_make_no_sense_are_refused_and_harm_nothing() {
    let pair = Pair::start().await;
    for (field, value) in [
        ("check_env_interval_seconds", json!(0)),
        ("check_env_interval_seconds", json!(-1)),
        ("timeout", json!(0)),
        ("timeout", json!(-5)),
    ] {
        let mut bad = task("bad", json!({}));
        bad[field] = value;
        let (status, said) = pair.begin(bad).await;
        assert_eq!((status, &said["detail"][0]["loc"][1]), (422, &json!(field)));
    }
    assert_eq!(pair.state().await, "READY");
}

#[tokio::test(flavor = "multi_thread")]
async fn r16_an_agent_that_never_answers_hangs_nothing() {
    let pair = Pair::start().await;
    // In the middle of a task.
    assert_eq!(pair.begin(task("a", json!({}))).await.0, 200);
    pair.agent.fall_silent();
    assert_eq!(pair.record("a").await["stop_reason"], "agent_lost");
    pair.until_state("READY").await;
    // And before one.
    let (status, said) = pair.begin(task("b", json!({}))).await;
    assert_eq!(status, 500);
    assert!(said["error"].as_str().unwrap().contains("does not answer"));
    assert_eq!(pair.state().await, "READY");
}

#[tokio::test(flavor = "multi_thread")]
async fn r17_the_reason_is_told_in_the_note_and_in_the_record() {
    let pair = Pair::start().await;
    let mut slow = task("timeout", json!({}));
    slow["timeout"] = json!(1);
    let agent_says = |reason: &str| json!({ "task_id": reason, "reason": reason, "error": "x" });
    for (task, said) in [
        (slow, None),
        (task("env_ended", json!({ "timer": "end" })), None),
        (task("finished", json!({ "agent": "finish" })), None),
        (task("operator", json!({})), Some(agent_says("operator"))),
        (
            task("agent_error", json!({})),
            Some(agent_says("agent_error")),
        ),
    ] {
        let reason = task["task_id"].as_str().unwrap().to_owned();
        assert_eq!(pair.begin(task).await.0, 200);
        if said.is_some() {
            assert_eq!(pair.finished(said).await.0, 200);
        }
        let record = pair.record(&reason).await;
        assert_eq!(record["stop_reason"], *reason);
        assert!(record["notes"].as_str().unwrap().starts_with(&reason));
        assert_eq!(pair.evaluator.count("score", &reason), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r18_of_two_starts_at_once_one_sets_up() {
    let pair = Pair::start().await;
    let waits = || task("a", json!({ "setup": "wait" }));
    let (first, second, ()) = tokio::join!(pair.begin(waits()), pair.begin(waits()), async {
        // Whoever came second is refused while the first one's set-up still runs.
        pair.until_state("EVALUATING").await;
        let third = pair.begin(task("b", json!({}))).await;
        assert_eq!(third.0, 400, "{}", third.1);
        pair.evaluator.door("a").open();
    });
    let mut statuses = [first.0, second.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
    assert_eq!(pair.evaluator.count("setup", "a"), 1);
    assert_eq!(*pair.agent.seen.starts.lock().unwrap(), 1);
}
