//! An evaluator server with an agent server of ours: what one says, the other understands.

use std::time::Duration;

use agon_arena::{AgentServer, EvaluatorServer, Server, ServerOptions};
use agon_desktop::{Desktop, DesktopConfig};
use serde_json::json;

use super::client_support::Player;
use super::evaluator_support::{Client, Scripted, task};

struct Played {
    client: Client,
    evaluator: Scripted,
    agent: Server,
    _desktop: Desktop,
}

async fn start() -> Played {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let options = ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::default()
    };
    let evaluator = Scripted::default();
    let server = EvaluatorServer::start(evaluator.clone(), &options, None).unwrap();
    let agent = AgentServer::start(|| Box::new(Player), &options).unwrap();
    let client = Client::new(server);
    let url = format!("{}/agent/register_evaluator", agent.url());
    let body = json!({ "evaluator_url": client.server.url() });
    let registered = client.http.post(url).json(&body).send().await.unwrap();
    assert_eq!(registered.status(), 200);
    assert_eq!(client.register(agent.url()).await.0, 200);
    Played {
        client,
        evaluator,
        agent,
        _desktop: desktop,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_end_of_an_agent_is_told_as_what_it_was() {
    let pair = start().await;
    for (number, (criteria, reason, error)) in [
        (json!({ "agent": "finish" }), "finished", None),
        (
            json!({ "agent": "fail" }),
            "agent_error",
            Some("lost my way"),
        ),
        (
            json!({ "agent": "panic" }),
            "agent_error",
            Some("on purpose"),
        ),
        (json!({ "agent": "operator" }), "operator", None),
        (json!({ "timer": "wait_end" }), "env_ended", None),
        (json!({ "agent": "finish" }), "finished", None),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("t{number}");
        assert_eq!(pair.client.begin(task(&id, criteria.clone())).await.0, 200);
        if criteria["timer"] == "wait_end" {
            // It plays for a moment.
            tokio::time::sleep(Duration::from_millis(100)).await;
            pair.evaluator.door(&id).open();
        }
        let record = pair.client.record(&id).await;
        assert_eq!(record["stop_reason"], reason, "{record}");
        let said = record["error"].as_str().unwrap_or_default();
        assert!(said.contains(error.unwrap_or_default()), "{record}");
        assert!(record["stats"]["steps"].is_number(), "{record}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_somebody_else_stops_has_not_finished() {
    let pair = start().await;
    assert_eq!(pair.client.begin(task("a", json!({}))).await.0, 200);
    let url = format!("{}/agent/task/stop", pair.agent.url());
    let stopped = pair.client.http.post(url).send().await.unwrap();
    assert_eq!(stopped.status(), 200);
    let record = pair.client.record("a").await;
    assert_eq!(record["stop_reason"], "operator", "{record}");
    assert!(record["notes"].as_str().unwrap().contains("somebody else"));
    assert!(record["stats"]["steps"].is_number(), "{record}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_server_that_ends_is_lost() {
    let pair = start().await;
    assert_eq!(pair.client.begin(task("a", json!({}))).await.0, 200);
    pair.agent.stop();
    let record = pair.client.record("a").await;
    let reason = record["stop_reason"].as_str().unwrap();
    // It may have had the time to say so.
    assert!(["agent_lost", "operator"].contains(&reason), "{record}");
}
