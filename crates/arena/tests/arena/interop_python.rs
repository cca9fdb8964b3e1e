//! Agent, evaluator and client in Python, in every combination with ours. They are the examples, which
//! keep to the wire of the original: no bodies where it has none, no ids, RUNNING until the evaluator
//! has answered.
//!
//! `AGON_ARENA_PEERS` names another folder with an `agent.py`, `evaluator.py` and `client.py` to play
//! with, such as some that wrap the original, and `AGON_ARENA_PYTHON` the interpreter for it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use agon_arena::{
    AgentServer, ClientOptions, EvaluatorServer, Server, ServerOptions, Task,
    run_evaluation_client_async,
};
use agon_desktop::{Desktop, DesktopConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client_support::Player;
use super::evaluator_support::{PATIENCE, Scripted, task, until};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    Ours,
    Python,
}
use Who::{Ours, Python};

/// What is played, and why it ends.
fn tasks() -> Vec<(Value, &'static str)> {
    let all = [
        (json!({ "agent": "finish" }), 3600, "finished"),
        (json!({ "agent": "finish" }), 3600, "finished"),
        (json!({ "timer": "end" }), 3600, "env_ended"),
        (
            json!({ "agent": "slow", "check": "end" }),
            3600,
            "env_ended",
        ),
        (json!({}), 1, "timeout"),
        (json!({ "agent": "fail" }), 2, "agent_error"),
        (json!({ "agent": "finish" }), 3600, "finished"),
    ];
    let numbered = all.into_iter().enumerate();
    numbered
        .map(|(number, (criteria, seconds, reason))| {
            let mut task = task(&format!("t{number}"), criteria);
            task["timeout"] = json!(seconds);
            (task, reason)
        })
        .collect()
}

/// A script that serves, until it is dropped.
struct Peer {
    url: String,
    _child: Child,
    _out: BufReader<ChildStdout>,
}

fn other_peers() -> Option<PathBuf> {
    std::env::var_os("AGON_ARENA_PEERS").map(PathBuf::from)
}

fn python(script: &str) -> Command {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = other_peers().unwrap_or_else(|| here.join("tests/python"));
    let interpreter = std::env::var_os("AGON_ARENA_PYTHON");
    let mut command = Command::new(interpreter.unwrap_or_else(|| "python3".into()));
    command
        .arg("-B")
        .arg(folder.join(script))
        .env("PYTHONPATH", here.join("../../examples/python"))
        .env_remove("AGON_ARENA_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    command
}

impl Peer {
    async fn start(script: &str) -> Self {
        let mut child = python(script).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        timeout(PATIENCE, out.read_line(&mut url))
            .await
            .unwrap()
            .unwrap();
        Self {
            url: url.trim().to_owned(),
            _child: child,
            _out: out,
        }
    }
}

enum Side {
    Ours(Server),
    Python(Box<Peer>),
}

impl Side {
    fn url(&self) -> &str {
        match self {
            Self::Ours(server) => server.url(),
            Self::Python(peer) => &peer.url,
        }
    }
}

async fn play(agent: Who, evaluator: Who, client: Who) {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let options = ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::default()
    };
    let agent = match agent {
        Ours => Side::Ours(AgentServer::start(|| Box::new(Player), &options).unwrap()),
        Python => Side::Python(Box::new(Peer::start("agent.py").await)),
    };
    let evaluator = match evaluator {
        Ours => Side::Ours(EvaluatorServer::start(Scripted::default(), &options, None).unwrap()),
        Python => Side::Python(Box::new(Peer::start("evaluator.py").await)),
    };
    let (tasks, reasons): (Vec<Value>, Vec<&str>) = tasks().into_iter().unzip();
    let results = match client {
        Ours => play_with_ours(agent.url(), evaluator.url(), &tasks).await,
        Python => play_with_python(agent.url(), evaluator.url(), &tasks).await,
    };
    let of = |results: &[Value], key: &str| -> Vec<Value> {
        results.iter().map(|result| result[key].clone()).collect()
    };
    assert_eq!(
        of(&results, "task_id"),
        of(&tasks, "task_id"),
        "{results:?}"
    );
    for (result, reason) in results.iter().zip(&reasons) {
        assert_eq!(result["metrics"]["success"], true, "{result}");
        let elapsed = result["metrics"]["task_elapsed_time"].as_f64().unwrap();
        assert!(*reason != "timeout" || elapsed >= 1.0, "{result}");
        // The original does not say why.
        let says_why = matches!(evaluator, Side::Ours(_)) || other_peers().is_none();
        let notes = result["notes"].as_str().unwrap();
        assert!(!says_why || notes.starts_with(reason), "{reason}: {result}");
    }
}

async fn play_with_ours(agent: &str, evaluator: &str, tasks: &[Value]) -> Vec<Value> {
    let tasks = tasks.iter().cloned();
    let tasks = tasks.map(|task| serde_json::from_value::<Task>(task).unwrap());
    let (options, stop) = (ClientOptions::default(), CancellationToken::new());
    let done = run_evaluation_client_async(agent, evaluator, tasks, &options, &stop, |_| {}).await;
    let results = done
        .unwrap()
        .into_iter()
        .map(|evaluation| evaluation.result.unwrap());
    results
        .map(|result| serde_json::to_value(result).unwrap())
        .collect()
}

async fn play_with_python(agent: &str, evaluator: &str, tasks: &[Value]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.json");
    std::fs::write(&file, serde_json::to_vec(tasks).unwrap()).unwrap();
    let mut client = python("client.py");
    client
        .args(["--agent-url", agent, "--evaluator-url", evaluator])
        .arg(file);
    let done = timeout(PATIENCE, client.output()).await.unwrap().unwrap();
    assert!(done.status.success(), "{}", done.status);
    let lines = String::from_utf8(done.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_client_has_a_python_evaluator_score_its_task() {
    let (agent, evaluator) = (
        Peer::start("agent.py").await,
        Peer::start("evaluator.py").await,
    );
    let stop = CancellationToken::new();
    let (options, tasks) = (ClientOptions::default(), ["a", "b"]);
    let tasks = tasks.map(|id| serde_json::from_value::<Task>(task(id, json!({}))).unwrap());
    let run =
        run_evaluation_client_async(&agent.url, &evaluator.url, tasks, &options, &stop, |_| {});
    let interrupt = async {
        let http = agon_llm::plain_http().build().unwrap();
        let url = format!("{}/agent/status", agent.url);
        let plays = async |()| {
            let status = http.get(&url).send().await.unwrap();
            let status: Value = status.json().await.unwrap();
            (status["state"] == "RUNNING").then_some(())
        };
        until(plays).await;
        stop.cancel();
    };
    let (done, ()) = tokio::join!(run, interrupt);
    let done = done.unwrap();
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].result.as_ref().unwrap().task_id, "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_is_ours() {
    play(Ours, Ours, Ours).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_agent_with_our_evaluator_and_client() {
    play(Python, Ours, Ours).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_evaluator_with_our_agent_and_client() {
    play(Ours, Python, Ours).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_client_with_our_agent_and_evaluator() {
    play(Ours, Ours, Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_with_a_python_agent_and_evaluator() {
    play(Python, Python, Ours).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_evaluator_with_a_python_agent_and_client() {
    play(Python, Ours, Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_agent_with_a_python_evaluator_and_client() {
    play(Ours, Python, Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_is_python() {
    play(Python, Python, Python).await;
}
