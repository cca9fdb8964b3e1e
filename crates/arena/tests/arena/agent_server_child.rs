//! Agents in a process of their own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use agon_agent::play::Cause;
use agon_arena::wire::path;
use agon_arena::{AgentServer, Flow, PlayError, ProcessAgent, child};
use agon_desktop::Key;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::agent_server_stage::{Closures, Door, Keys, PATIENCE, Stage, nowhere};

/// Not a test: this executable, started once more by the others.
#[test]
#[ignore = "it is the child of other tests"]
fn the_child_itself() {
    if child::is_child() {
        child::serve(|| Box::new(agent())).unwrap();
    }
}

/// Not a test: a server with a child, to be killed.
#[test]
#[ignore = "it is the child of another test"]
fn the_server_itself() {
    if std::env::var("AGON_TEST_SERVER").is_err() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = AgentServer::start_process(program(), &nowhere()).unwrap();
        println!("\nurl {}", server.url());
        Door::default().pass();
    });
}

fn named(test: &str) -> [String; 5] {
    let name = format!("arena::agent_server_child::{test}");
    [
        "--exact".to_owned(),
        name,
        "--ignored".to_owned(),
        "--nocapture".to_owned(),
        "--quiet".to_owned(),
    ]
}

fn program() -> ProcessAgent {
    ProcessAgent::this_executable(named("the_child_itself")).unwrap()
}

/// Does what the id of its task says.
fn agent() -> Closures {
    Closures::step(|task, play| {
        let what = task.task_id.split('-').next().unwrap_or_default();
        Flow::of(|| match what {
            "finish" => Ok(Flow::Finish),
            "fail" => Err(PlayError::Agent(format!("pid {}", std::process::id()))),
            "print" => {
                let line = b"{\"type\":\"ended\"}\nhello\n";
                std::io::stdout()
                    .write_all(line)
                    .map_err(|error| PlayError::Agent(error.to_string()))?;
                Ok(Flow::Finish)
            }
            "crash" => {
                play.keyboard().press(Key::Right)?;
                std::process::abort()
            }
            "switched" => {
                // As a stop event does.
                play.stop().ask(Cause::Operator);
                Door::default().pass();
                Ok(Flow::Continue)
            }
            "stuck" => {
                play.keyboard().press(Key::Right)?;
                Door::default().pass();
                Ok(Flow::Continue)
            }
            _ => {
                play.keyboard().press(Key::Right)?;
                Ok(Flow::Continue)
            }
        })
    })
}

/// The number of the process that plays now.
async fn process(stage: &Stage, id: &str) -> Pid {
    stage.start(id).await;
    let word = stage.ear.hear().body;
    assert_eq!(word["reason"], "agent_error", "{word}");
    let number = word["error"]
        .as_str()
        .unwrap()
        .strip_prefix("pid ")
        .unwrap();
    Pid::from_raw(number.parse().unwrap()).unwrap()
}

/// Comes back when the process is gone.
fn wait_for_end(process: Pid) {
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else {
        return;
    };
    let patience = Timespec::try_from(PATIENCE).unwrap();
    let ended = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience)).unwrap();
    assert_eq!(ended, 1, "it lives on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_plays_task_after_task() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    let first = process(&stage, "fail-1").await;
    assert_ne!(first.as_raw_pid().cast_unsigned(), std::process::id());
    stage.start("finish-1").await;
    let word = stage.ear.hear().body;
    assert_eq!(
        (&word["task_id"], &word["reason"]),
        (&"finish-1".into(), &"finished".into())
    );
    assert_eq!(word["stats"]["steps"], 1, "{word}");
    stage.start("print-1").await;
    assert_eq!(
        stage.ear.hear().body["reason"],
        "finished",
        "what it prints does no harm"
    );
    stage.start("hold-1").await;
    keys.wait_until(true).await;
    let (status, body) = stage.stop().await;
    assert_eq!(status, 200, "{body}");
    assert!(!keys.are_down());
    assert_eq!(
        process(&stage, "fail-2").await,
        first,
        "it is the same process all the time"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_really_kills_and_the_next_task_has_a_new_process() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    let first = process(&stage, "fail-1").await;
    stage.start("stuck-1").await;
    keys.wait_until(true).await;
    let (status, _) = stage.post(path::AGENT_KILL, None).await;
    assert_eq!(status, 200);
    assert_eq!(stage.state().await, "READY");
    assert!(!keys.are_down());
    assert_eq!(stage.ear.hear().body["reason"], "operator");
    wait_for_end(first);
    let second = process(&stage, "fail-2").await;
    assert_ne!(first, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_crashes_is_lost_and_its_keys_are_released() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    stage.start("crash-1").await;
    let word = stage.ear.hear().body;
    assert_eq!(word["reason"], "agent_lost");
    assert!(
        word["error"].as_str().unwrap().contains("signal: 6"),
        "{word}"
    );
    assert!(!keys.are_down());
    stage.wait_for("READY").await;
    stage.start("finish-2").await;
    assert_eq!(stage.ear.hear().body["reason"], "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn r15_the_panic_key_ends_a_child_as_well() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    stage.start("hold-1").await;
    keys.wait_until(true).await;
    keys.desktop.keyboard().tap(Key::F10).unwrap();
    assert_eq!(stage.ear.hear().body["reason"], "operator");
    keys.wait_until(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_does_not_stop_is_told_of_and_then_killed() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    let first = process(&stage, "fail-1").await;
    stage.start("stuck-1").await;
    keys.wait_until(true).await;
    keys.desktop.keyboard().tap(Key::F10).unwrap();
    assert_eq!(stage.ear.hear().body["reason"], "operator");
    assert_eq!(stage.state().await, "RUNNING");
    stage.wait_for("READY").await;
    wait_for_end(first);
    assert!(!keys.are_down());
    assert_ne!(process(&stage, "fail-2").await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_in_a_child_is_told_while_it_is_stuck() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    stage.start("switched-1").await;
    assert_eq!(stage.ear.hear().body["reason"], "operator");
    assert_eq!(stage.state().await, "RUNNING");
    assert_eq!(stage.post(path::AGENT_KILL, None).await.0, 200);
    assert_eq!(stage.state().await, "READY");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_ends_with_its_server() {
    let keys = Keys::start();
    let stage = Stage::in_process(&keys.desktop, program()).await;
    let child = process(&stage, "fail-1").await;
    stage.start("hold-1").await;
    keys.wait_until(true).await;
    stage.server.stop();
    wait_for_end(child);
    keys.wait_until(false).await;
}

#[test]
fn a_child_dies_when_its_server_is_killed() {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(named("the_server_itself"))
        .env("AGON_TEST_SERVER", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let started = lines
        .map_while(Result::ok)
        .any(|line| line.starts_with("url "));
    assert!(started);
    let pid = Pid::from_child(&server);
    let children = format!("/proc/{pid}/task", pid = pid.as_raw_pid());
    let tasks = std::fs::read_dir(children).unwrap().flatten();
    let children = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    let children: String = children.map(|list| list.unwrap_or_default()).collect();
    let child = children.split_whitespace().next().unwrap().parse().unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    server.wait().unwrap();
    wait_for_end(Pid::from_raw(child).unwrap());
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let missing = ProcessAgent::command("/no/such/agent", ["x"]);
    let error = AgentServer::start_process(missing, &nowhere()).unwrap_err();
    assert!(error.to_string().contains("/no/such/agent"), "{error}");
}
