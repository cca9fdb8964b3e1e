//! Tasks from start to end on a real desktop, and the ways in which the original's went wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_arena::wire::path;
use agon_arena::{AgentExt, Flow, PlayError};
use agon_desktop::Key;

use super::agent_server_stage::{Closures, Door, Keys, PATIENCE, Stage, task};

/// Presses a key and lets it be.
fn holds_right() -> Closures {
    Closures::step(|_, play| {
        Flow::of(|| {
            play.keyboard().press(Key::Right)?;
            Ok(Flow::Continue)
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_done_tells_its_evaluator() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), || {
        Closures::step(|_, play| {
            Flow::of(|| {
                play.keyboard().tap(Key::Right, Duration::ZERO)?;
                Ok(Flow::Finish)
            })
        })
    })
    .await;
    stage.start("a").await;
    let word = stage.ear.hear().body;
    assert_eq!(word["task_id"], "a");
    assert_eq!(word["reason"], "finished");
    assert!(word["stats"]["actions"].as_u64() > Some(0), "{word}");
    assert_eq!(
        stage.state().await,
        "READY",
        "it is told when the agent can play again"
    );
    assert_eq!(stage.status().await["current_task"]["task_id"], "a");
    let right = |down| ("Right".to_owned(), down);
    assert_eq!(keys.seen(), [right(true), right(false)]);
    stage.start("b").await;
    assert_eq!(stage.ear.hear().body["task_id"], "b");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_task_and_is_not_told_to_who_asked() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), holds_right).await;
    stage.start("a").await;
    keys.wait_until(true).await;
    let (status, body) = stage.stop().await;
    assert_eq!((status, &body["success"]), (200, &true.into()));
    assert_eq!(body["task_id"], "a");
    assert!(body["stats"]["steps"].as_u64() > Some(0), "{body}");
    assert!(!keys.are_down());
    assert_eq!(stage.state().await, "READY");
    assert_eq!(stage.stop().await.0, 400);
    // A word about it would come before this one.
    stage.start("b").await;
    stage.post(path::AGENT_ABORT, None).await;
    let word = stage.ear.hear().body;
    assert_eq!(
        (&word["task_id"], &word["reason"]),
        (&"b".into(), &"operator".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn r05_a_stop_during_init_is_not_lost() {
    let keys = Keys::start();
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let stage = Stage::with(&keys.options(), move || {
        let counted = Arc::clone(&counted);
        Closures {
            init: Box::new(|_, play| {
                play.keyboard().press(Key::Left)?;
                assert!(play.stop().wait(PATIENCE));
                Ok(())
            }),
            step: Box::new(move |_, _| {
                counted.fetch_add(1, Ordering::SeqCst);
                Flow::Continue
            }),
            finish: Box::new(|_| ()),
        }
    })
    .await;
    for id in ["a", "b"] {
        stage.start(id).await;
        keys.wait_until(true).await;
        assert_eq!(stage.stop().await.0, 200);
        assert!(!keys.are_down());
        assert_eq!(stage.state().await, "READY");
    }
    assert_eq!(steps.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn r06_an_agent_that_fails_is_told_of_at_once() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), || {
        Closures::step(|task, _| match task.task_id.as_str() {
            "panics" => panic!("on purpose"),
            _ => Flow::Fail(PlayError::Agent("no idea".to_owned())),
        })
    })
    .await;
    for (id, said) in [("panics", "on purpose"), ("fails", "no idea")] {
        stage.start(id).await;
        let word = stage.ear.hear().body;
        assert_eq!(word["task_id"], id);
        assert_eq!(word["reason"], "agent_error");
        assert!(word["error"].as_str().unwrap().contains(said), "{word}");
        assert_eq!(stage.status().await["ended"]["reason"], "agent_error");
        assert_eq!(stage.state().await, "READY");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r06_an_agent_that_fails_and_cleans_up_slowly_is_told_of_before_it_is_ready() {
    let keys = Keys::start();
    let door = Door::default();
    let kept = door.clone();
    let stage = Stage::with(&keys.options(), move || {
        let door = kept.clone();
        Closures {
            finish: Box::new(move |_| door.pass()),
            ..Closures::step(|_, _| Flow::Fail(PlayError::Agent("no idea".to_owned())))
        }
    })
    .await;
    stage.start("a").await;
    assert_eq!(stage.ear.hear().body["reason"], "agent_error");
    assert_eq!(stage.state().await, "RUNNING");
    door.open();
    stage.wait_for("READY").await;
    // It was told once.
    stage.start("b").await;
    assert_eq!(stage.ear.hear().body["task_id"], "b");
}

#[tokio::test(flavor = "multi_thread")]
async fn r07_a_slow_step_has_no_keys_after_the_stop() {
    let keys = Keys::start();
    let (door, tried) = (Door::default(), Arc::new(Mutex::new(None)));
    let (kept, noted) = (door.clone(), Arc::clone(&tried));
    let stage = Stage::with(&keys.options(), move || {
        let (door, noted) = (kept.clone(), Arc::clone(&noted));
        Closures::step(move |_, play| {
            Flow::of(|| {
                play.keyboard().press(Key::Right)?;
                door.pass();
                let late = play.keyboard().press(Key::Left);
                *noted.lock().unwrap() = Some(late.is_err());
                // Nor around the context that it was given.
                let around = play.desktop().keyboard().press(Key::Left);
                assert!(around.is_err());
                Ok(Flow::Continue)
            })
        })
    })
    .await;
    stage.start("a").await;
    keys.wait_until(true).await;
    let (status, body) = stage.stop().await;
    assert_eq!((status, &body["success"]), (500, &false.into()));
    assert!(!keys.are_down(), "the step goes on, its key does not");
    assert_eq!(stage.state().await, "STOPPING");
    assert_eq!(
        stage.post(path::AGENT_TASK_START, Some(task("b"))).await.0,
        400
    );
    assert_eq!(stage.register().await, 500);
    door.open();
    stage.wait_for("READY").await;
    assert_eq!(*tried.lock().unwrap(), Some(true));
    let right = |down| ("Right".to_owned(), down);
    assert_eq!(keys.seen(), [right(true), right(false)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r09_an_agent_is_ready_when_its_last_hook_has_run() {
    let keys = Keys::start();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let (door, noted) = (Door::default(), Arc::clone(&calls));
    let kept = door.clone();
    let stage = Stage::with(&keys.options(), move || {
        let (first, last, door) = (Arc::clone(&noted), Arc::clone(&noted), kept.clone());
        Closures {
            init: Box::new(move |task, _| {
                first.lock().unwrap().push(format!("init {}", task.task_id));
                Ok(())
            }),
            step: Box::new(|_, _| Flow::Finish),
            finish: Box::new(move |task| {
                door.pass();
                last.lock()
                    .unwrap()
                    .push(format!("finish {}", task.task_id));
            }),
        }
    })
    .await;
    stage.start("a").await;
    assert_eq!(stage.ear.hear().body["reason"], "finished");
    assert_eq!(stage.state().await, "RUNNING");
    assert_eq!(
        stage.post(path::AGENT_TASK_START, Some(task("b"))).await.0,
        400
    );
    door.open();
    stage.wait_for("READY").await;
    stage.start("b").await;
    stage.ear.hear();
    stage.wait_for("READY").await;
    let calls = calls.lock().unwrap().clone();
    assert_eq!(calls, ["init a", "finish a", "init b", "finish b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r15_the_panic_key_is_told_to_the_evaluator() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), holds_right).await;
    stage.start("a").await;
    keys.wait_until(true).await;
    keys.desktop.keyboard().tap(Key::F10).unwrap();
    let word = stage.ear.hear().body;
    assert_eq!(
        (&word["task_id"], &word["reason"]),
        (&"a".into(), &"operator".into())
    );
    stage.wait_for("READY").await;
    assert!(!keys.are_down());
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_leaves_a_stuck_agent_behind_and_another_one_plays() {
    let keys = Keys::start();
    let (door, back, made) = (
        Door::default(),
        Door::default(),
        Arc::new(AtomicUsize::new(0)),
    );
    let (kept, passed, counted) = (door.clone(), back.clone(), Arc::clone(&made));
    let stage = Stage::with(&keys.options(), move || {
        counted.fetch_add(1, Ordering::SeqCst);
        let (door, back) = (kept.clone(), passed.clone());
        Closures {
            finish: Box::new(move |task| {
                if task.task_id == "stuck" {
                    back.open();
                }
            }),
            ..Closures::step(move |task, play| {
                Flow::of(|| match task.task_id.as_str() {
                    "stuck" => {
                        play.keyboard().press(Key::Right)?;
                        door.pass();
                        Ok(Flow::Finish)
                    }
                    "third" => {
                        play.keyboard().press(Key::Left)?;
                        Ok(Flow::Continue)
                    }
                    _ => Ok(Flow::Finish),
                })
            })
        }
    })
    .await;
    stage.start("stuck").await;
    keys.wait_until(true).await;
    let (status, body) = stage.post(path::AGENT_KILL, None).await;
    assert_eq!((status, &body["success"]), (200, &true.into()));
    assert_eq!(stage.state().await, "READY");
    assert!(!keys.are_down());
    assert_eq!(stage.ear.hear().body["reason"], "operator");
    stage.start("next").await;
    assert_eq!(stage.ear.hear().body["reason"], "finished");
    assert_eq!(made.load(Ordering::SeqCst), 2);
    stage.wait_for("READY").await;
    stage.start("third").await;
    keys.wait_until(true).await;
    door.open();
    back.pass();
    // Longer than a word is kept back for the sake of hooks.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(
        stage.ear.heard().is_empty(),
        "who comes back late is heard no more"
    );
    assert_eq!(stage.state().await, "RUNNING");
    assert!(keys.are_down());
    stage.post(path::AGENT_ABORT, None).await;
    let word = stage.ear.hear().body;
    assert_eq!(
        (&word["task_id"], &word["reason"]),
        (&"third".into(), &"operator".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_of_the_only_agent_says_that_it_is_still_there() {
    let keys = Keys::start();
    let door = Door::default();
    let kept = door.clone();
    let agent = Closures::step(move |_, play| {
        Flow::of(|| {
            play.keyboard().press(Key::Right)?;
            kept.pass();
            Ok(Flow::Finish)
        })
    });
    let stage = Stage::of(agent.serve(&keys.options()).unwrap());
    stage.register().await;
    stage.start("stuck").await;
    keys.wait_until(true).await;
    let (status, _) = stage.post(path::AGENT_KILL, None).await;
    assert_eq!(status, 200);
    assert!(!keys.are_down());
    assert_eq!(stage.state().await, "STOPPING");
    assert_eq!(stage.post(path::AGENT_RESET, None).await.0, 500);
    door.open();
    stage.wait_for("READY").await;
    assert_eq!(stage.post(path::AGENT_RESET, None).await.0, 200);
    stage.register().await;
    stage.start("next").await;
    assert_eq!(stage.ear.hear().body["task_id"], "stuck");
    assert_eq!(stage.ear.hear().body["reason"], "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_releases_the_keys() {
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), holds_right).await;
    stage.start("a").await;
    keys.wait_until(true).await;
    stage.server.stop();
    assert!(!keys.are_down());
}
