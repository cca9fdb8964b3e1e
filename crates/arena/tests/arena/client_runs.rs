//! Clients over servers that are there already, and over servers that are not, or not for long.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use agon_arena::{
    AgentServer, ArenaError, ClientOptions, Evaluation, EvaluationResult, EvaluatorServer, Server,
    ServerOptions, Task, Token, run_evaluation_client, run_evaluation_client_async,
};
use agon_desktop::{Desktop, DesktopConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::block_in_place;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client_support::Player;
use super::evaluator_support::{Client, PATIENCE, Scripted, task as wire_task, until};

struct Servers {
    agent: Server,
    evaluator: Server,
    _desktop: Desktop,
}

fn start_with(token: Option<Token>) -> Servers {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let options = ServerOptions {
        desktop: Some(desktop.address().clone()),
        token,
        ..ServerOptions::default()
    };
    Servers {
        agent: AgentServer::start(|| Box::new(Player), &options).unwrap(),
        evaluator: EvaluatorServer::start(Scripted::default(), &options, None).unwrap(),
        _desktop: desktop,
    }
}

fn task(id: &str, criteria: Value) -> Task {
    serde_json::from_value(wire_task(id, criteria)).unwrap()
}

fn finish(id: &str) -> Task {
    task(id, json!({ "agent": "finish" }))
}

async fn run(
    agent: &str,
    evaluator: &str,
    tasks: Vec<Task>,
) -> Result<Vec<Evaluation>, ArenaError> {
    let (options, stop) = (ClientOptions::default(), CancellationToken::new());
    run_evaluation_client_async(agent, evaluator, tasks, &options, &stop, |_| {}).await
}

fn reason(result: &EvaluationResult) -> &str {
    let notes = result.notes.as_deref().unwrap();
    notes.split([':', ' ']).next().unwrap()
}

/// An address where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn r08_a_second_client_finds_the_servers_as_the_first_did() {
    let servers = start_with(None);
    for _ in 0..3 {
        // With the same ids: it is another session.
        let tasks = vec![finish("a"), finish("b")];
        let done = run(servers.agent.url(), servers.evaluator.url(), tasks)
            .await
            .unwrap();
        let ids: Vec<&str> = done
            .iter()
            .map(|one| &*one.result.as_ref().unwrap().task_id)
            .collect();
        assert_eq!(ids, ["a", "b"]);
    }
}

#[test]
fn who_has_no_runtime_just_calls() {
    let servers = start_with(None);
    let tasks = [finish("a"), task("b", json!({ "timer": "end" }))];
    let done = run_evaluation_client(servers.agent.url(), servers.evaluator.url(), tasks).unwrap();
    let reasons: Vec<&str> = done
        .iter()
        .map(|one| reason(one.result.as_ref().unwrap()))
        .collect();
    assert_eq!(reasons, ["finished", "env_ended"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_servers_that_are_not_there_are_an_error() {
    let servers = start_with(None);
    for (agent, evaluator) in [
        (nobody().as_str(), servers.evaluator.url()),
        (servers.agent.url(), nobody().as_str()),
    ] {
        let error = run(agent, evaluator, vec![finish("a")])
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("no answer"), "{error}");
    }
    let error = run("127.0.0.1:8000", servers.evaluator.url(), vec![])
        .await
        .unwrap_err();
    assert!(matches!(error, ArenaError::Address(_)), "{error}");
}

/// Answers everything with this.
async fn babble(answer: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut heard = [0; 4096];
            let _ = stream.read(&mut heard).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_servers_that_make_no_sense_are_an_error() {
    let servers = start_with(None);
    for answer in [
        "HTTP/1.1 500 x\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "",
    ] {
        let babbler = babble(answer).await;
        let said = run(&babbler, servers.evaluator.url(), vec![finish("a")]).await;
        assert!(
            matches!(said, Err(ArenaError::Peer { .. })),
            "{answer:?}: {said:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_an_evaluator_that_goes_away_ends_the_wait() {
    let Servers {
        agent,
        evaluator,
        _desktop,
    } = start_with(None);
    let (agent_url, evaluator_url) = (agent.url().to_owned(), evaluator.url().to_owned());
    let client =
        tokio::spawn(
            async move { run(&agent_url, &evaluator_url, vec![task("a", json!({}))]).await },
        );
    let asker = Client::new(evaluator);
    asker.until_state("EVALUATING").await;
    tokio::task::spawn_blocking(move || drop(asker))
        .await
        .unwrap();
    let done = client.await.unwrap().unwrap();
    // It may have gone while it still answered the start.
    let ended = &done[0].result;
    assert!(matches!(ended, Err(ArenaError::Peer { .. })), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_an_interrupted_client_has_its_task_scored_and_starts_no_other() {
    let Servers {
        agent,
        evaluator,
        _desktop,
    } = start_with(None);
    let (agent_url, evaluator_url) = (agent.url().to_owned(), evaluator.url().to_owned());
    let stop = CancellationToken::new();
    let theirs = stop.clone();
    let client = tokio::spawn(async move {
        let tasks = [task("a", json!({})), finish("b")];
        let options = ClientOptions::default();
        run_evaluation_client_async(&agent_url, &evaluator_url, tasks, &options, &theirs, |_| {})
            .await
    });
    let asker = Client::new(evaluator);
    let status = format!("{}/agent/status", agent.url());
    let plays = async |()| {
        let status = asker.http.get(&status).send().await.unwrap();
        let status: Value = serde_json::from_slice(&status.bytes().await.unwrap()).unwrap();
        (status["state"] == "RUNNING").then_some(())
    };
    until(plays).await;
    stop.cancel();
    let done = client.await.unwrap().unwrap();
    assert_eq!(done.len(), 1);
    assert_eq!(reason(done[0].result.as_ref().unwrap()), "operator");
    asker.until_state("READY").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_a_client_that_is_interrupted_in_the_set_up_has_it_aborted() {
    let servers = start_with(None);
    let (agent, stop) = (servers.agent.url().to_owned(), CancellationToken::new());
    let asker = Client::new(servers.evaluator);
    let evaluator = asker.server.url().to_owned();
    let theirs = stop.clone();
    let client = tokio::spawn(async move {
        let tasks = [task("a", json!({ "setup": "wait" })), finish("b")];
        let options = ClientOptions::default();
        run_evaluation_client_async(&agent, &evaluator, tasks, &options, &theirs, |_| {}).await
    });
    asker.until_state("EVALUATING").await;
    stop.cancel();
    let done = client.await.unwrap().unwrap();
    assert_eq!(done.len(), 1);
    let said = done[0].result.as_ref().unwrap_err().to_string();
    assert!(said.contains("operator"), "{said}");
    assert_eq!(asker.state().await, "READY");
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_a_client_that_is_interrupted_while_it_waits_begins_nothing() {
    let servers = start_with(None);
    let (agent, stop) = (servers.agent.url().to_owned(), CancellationToken::new());
    let asker = Arc::new(Client::new(servers.evaluator));
    let evaluator = asker.server.url().to_owned();
    let (theirs, other) = (stop.clone(), Arc::clone(&asker));
    let begun = Arc::new(Notify::new());
    let theirs_begun = Arc::clone(&begun);
    let client = tokio::spawn(async move {
        let tasks = [finish("a"), finish("b")];
        let options = ClientOptions::default();
        // Somebody else is faster with the next task.
        let each = |one: &Evaluation| {
            if one.task.task_id == "a" {
                let begin = other.begin(wire_task("other", json!({})));
                let said = block_in_place(|| Handle::current().block_on(begin));
                assert_eq!(said.0, 200, "{}", said.1);
                theirs_begun.notify_one();
            }
        };
        run_evaluation_client_async(&agent, &evaluator, tasks, &options, &theirs, each).await
    });
    begun.notified().await;
    // It waits by now, or has not yet come to the next task.
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.cancel();
    let done = timeout(PATIENCE, client).await.unwrap().unwrap().unwrap();
    assert!(done[0].result.is_ok());
    for waited in &done[1..] {
        let said = waited.result.as_ref().unwrap_err().to_string();
        assert!(said.contains("interrupted"), "{said}");
    }
    assert_eq!(asker.state().await, "EVALUATING", "it was not theirs");
}

#[tokio::test(flavor = "multi_thread")]
async fn r19_a_task_that_can_not_be_started_does_not_end_the_others() {
    let servers = start_with(None);
    let tasks = vec![
        finish("a"),
        finish("a"),
        task("b", json!({ "setup": "error" })),
        finish("c"),
    ];
    let done = run(servers.agent.url(), servers.evaluator.url(), tasks)
        .await
        .unwrap();
    let said = |number: usize| done[number].result.as_ref().unwrap_err().to_string();
    assert!(done[0].result.is_ok() && done[3].result.is_ok(), "{done:?}");
    assert!(said(1).contains("an id of its own"), "{}", said(1));
    assert!(said(2).contains("broken on purpose"), "{}", said(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_shown_by_all_three() {
    let servers = start_with(Some(Token::new("secret").unwrap()));
    let (agent, evaluator) = (servers.agent.url(), servers.evaluator.url());
    let refused = run(agent, evaluator, vec![finish("a")])
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("401"), "{refused}");
    let options = ClientOptions {
        token: Some(Token::new("secret").unwrap()),
        poll: Duration::from_millis(5),
    };
    let (tasks, stop) = ([finish("a"), finish("b")], CancellationToken::new());
    let mut seen = Vec::new();
    let each = |one: &Evaluation| seen.push(one.task.task_id.clone());
    let done = run_evaluation_client_async(agent, evaluator, tasks, &options, &stop, each).await;
    assert!(done.unwrap().iter().all(|one| one.result.is_ok()));
    assert_eq!(seen, ["a", "b"]);
}
