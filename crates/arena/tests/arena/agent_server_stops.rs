//! The ways in which a task is ended that the agent itself does not end: by its time, by a person, by
//! its evaluator. Stuck agents are told of as early as others.

use std::time::Duration;

use agon_arena::wire::path;
use agon_arena::{Agent, AgentServer, Flow, Play, PlayError, ProcessAgent, StopEvent, Task};
use agon_desktop::Key;
use serde_json::json;

use super::agent_server_stage::{Closures, Door, Keys, PATIENCE, Stage, task};

/// Holds a key and plays on.
fn holding() -> Closures {
    Closures::step(|_, play| {
        Flow::of(|| {
            play.keyboard().press(Key::Right)?;
            Ok(Flow::Continue)
        })
    })
}

/// Holds a key and waits at the door, deaf to everything else.
fn stuck(door: &Door) -> Closures {
    let door = door.clone();
    Closures::step(move |_, play| {
        Flow::of(|| {
            play.keyboard().press(Key::Right)?;
            door.pass();
            Ok(Flow::Continue)
        })
    })
}

/// The operator's word about a task, which comes although nothing of it has come back.
async fn expect_operator(stage: &Stage, id: &str, state: &str) {
    let word = stage.ear.hear().body;
    assert_eq!(
        (&word["task_id"], &word["reason"]),
        (&id.into(), &"operator".into())
    );
    assert_eq!(stage.state().await, state, "it is told while it is stuck");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_nobody_ends_is_ended_some_time_after_its_own() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), holding).await;
    let mut short = task("a");
    short["timeout"] = json!(1);
    assert_eq!(stage.post(path::AGENT_TASK_START, Some(short)).await.0, 200);
    keys.wait_until(true).await;
    let word = stage.ear.hear().body;
    assert_eq!(
        (&word["task_id"], &word["reason"]),
        (&"a".into(), &"timeout".into())
    );
    stage.wait_for("READY").await;
    assert!(!keys.are_down());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_names_another_task_stops_nothing() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), holding).await;
    let stop = |id: &str| stage.post(path::AGENT_TASK_STOP, Some(json!({ "task_id": id })));
    stage.start("a").await;
    keys.wait_until(true).await;
    let (status, body) = stop("b").await;
    assert_eq!((status, &body["success"]), (400, &false.into()));
    assert_eq!(stage.state().await, "RUNNING");
    assert!(keys.are_down());
    let (status, body) = stop("a").await;
    assert_eq!((status, &body["task_id"]), (200, &"a".into()));
    assert_eq!(stage.state().await, "READY");
    stage.start("b").await;
    assert_eq!(stop("a").await.0, 400);
    assert_eq!(
        stage.post(path::AGENT_TASK_STOP, Some(json!({}))).await.0,
        200,
        "who names none means the one that is played"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn abort_of_a_stuck_agent_is_told_before_it_comes_back() {
    let keys = Keys::start();
    let door = Door::default();
    let kept = door.clone();
    let stage = Stage::with(&keys.options(), move || stuck(&kept)).await;
    stage.start("a").await;
    keys.wait_until(true).await;
    assert_eq!(stage.post(path::AGENT_ABORT, None).await.0, 500);
    expect_operator(&stage, "a", "STOPPING").await;
    door.open();
    stage.wait_for("READY").await;
    stage.start("b").await;
    stage.post(path::AGENT_ABORT, None).await;
    assert_eq!(stage.ear.hear().body["task_id"], "b", "it is told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_panic_key_is_told_before_a_stuck_agent_comes_back() {
    let keys = Keys::start();
    let door = Door::default();
    let kept = door.clone();
    let stage = Stage::with(&keys.options(), move || stuck(&kept)).await;
    stage.start("a").await;
    keys.wait_until(true).await;
    keys.desktop.keyboard().tap(Key::F10).unwrap();
    expect_operator(&stage, "a", "RUNNING").await;
    keys.wait_until(false).await;
    door.open();
    stage.wait_for("READY").await;
}

/// An agent with a switch for people.
struct Switched {
    agent: Closures,
    switch: StopEvent,
}

impl Agent for Switched {
    fn init_task(&mut self, task: &Task, play: &mut Play) -> Result<(), PlayError> {
        self.agent.init_task(task, play)
    }

    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow {
        self.agent.play_env(task, play)
    }

    fn stop_event(&self) -> Option<StopEvent> {
        Some(self.switch.clone())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_event_is_told_before_a_stuck_agent_comes_back() {
    let keys = Keys::start();
    let (door, switch) = (Door::default(), StopEvent::new());
    let agent = Switched {
        agent: stuck(&door),
        switch: switch.clone(),
    };
    let server = AgentServer::start_only(Box::new(agent), &keys.options()).unwrap();
    let stage = Stage::of(server);
    stage.register().await;
    stage.start("a").await;
    keys.wait_until(true).await;
    switch.set();
    expect_operator(&stage, "a", "RUNNING").await;
    door.open();
    stage.wait_for("READY").await;
}

/// A program that takes its task, says so by a file, and hears nothing more.
fn deaf(sign: &std::path::Path) -> ProcessAgent {
    let script = "read -r task; : > \"$0\"; exec sleep 600";
    ProcessAgent::command(
        "sh",
        ["-c".into(), script.into(), sign.as_os_str().to_owned()],
    )
}

async fn wait_for_sign(sign: &std::path::Path) {
    let began = std::time::Instant::now();
    while !sign.exists() {
        assert!(began.elapsed() < PATIENCE, "it never took its task");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_hears_nothing_is_told_of_all_the_same() {
    let keys = Keys::start();
    let folder = tempfile::tempdir().unwrap();
    let sign = folder.path().join("taken");
    let stage = Stage::in_process(&keys.desktop, deaf(&sign)).await;
    stage.start("a").await;
    wait_for_sign(&sign).await;
    assert_eq!(stage.post(path::AGENT_ABORT, None).await.0, 500);
    expect_operator(&stage, "a", "STOPPING").await;
    assert_eq!(stage.post(path::AGENT_KILL, None).await.0, 200);
    assert_eq!(stage.state().await, "READY");
    std::fs::remove_file(&sign).unwrap();
    stage.start("b").await;
    wait_for_sign(&sign).await;
    keys.desktop.keyboard().tap(Key::F10).unwrap();
    expect_operator(&stage, "b", "RUNNING").await;
    assert_eq!(stage.post(path::AGENT_KILL, None).await.0, 200);
    assert_eq!(stage.state().await, "READY");
    assert!(stage.ear.heard().is_empty());
}
