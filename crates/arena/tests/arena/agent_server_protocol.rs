//! What an agent server answers to whom, without a desktop.

use agon_arena::wire::path;
use agon_arena::{AgentServer, ServerOptions, Token};
use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::agent_server_stage::{Closures, Stage, nowhere, task};
use agon_arena::Flow;

fn nothing() -> Closures {
    Closures::step(|_, _| Flow::Continue)
}

fn stage() -> Stage {
    Stage::of(AgentServer::start(|| Box::new(nothing()), &nowhere()).unwrap())
}

async fn ask(stage: &Stage, method: Method, path: &str) -> reqwest::Response {
    let client = agon_llm::plain_http().build().unwrap();
    let url = format!("{}{path}", stage.server.url());
    client.request(method, url).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_served_is_answered_as_the_original_does() {
    let stage = stage();
    for unknown in [
        "/",
        "/agent",
        "/agent/task/finished",
        "//agent/status",
        "/agent/status/x",
    ] {
        let answer = ask(&stage, Method::GET, unknown).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{unknown}");
        assert_eq!(
            answer.json::<Value>().await.unwrap(),
            json!({"detail": "Not Found"})
        );
    }
    for (method, path, allowed) in [
        (Method::POST, path::AGENT_STATUS, "GET"),
        (Method::DELETE, path::AGENT_STATUS, "GET"),
        (Method::GET, path::AGENT_TASK_START, "POST"),
        (Method::PUT, path::AGENT_KILL, "POST"),
    ] {
        let answer = ask(&stage, method, path).await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(answer.headers()["allow"], allowed);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body, json!({"detail": "Method Not Allowed"}));
    }
    let head = ask(&stage, Method::HEAD, path::AGENT_STATUS).await;
    assert_eq!(head.status(), StatusCode::METHOD_NOT_ALLOWED);
    for slashed in ["/agent/status/", "/agent/task/start/"] {
        let answer = ask(&stage, Method::GET, slashed).await;
        assert_eq!(answer.status(), StatusCode::TEMPORARY_REDIRECT, "{slashed}");
        assert_eq!(answer.headers()["location"], slashed.trim_end_matches('/'));
    }
    assert_eq!(
        ask(&stage, Method::GET, "/agent/x/").await.status(),
        StatusCode::NOT_FOUND
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_task_is_422() {
    let stage = stage();
    let url = format!("{}{}", stage.server.url(), path::AGENT_TASK_START);
    for (content_type, body, kind) in [
        ("application/json", String::new(), "missing"),
        ("application/json", "{".to_owned(), "json_invalid"),
        ("application/json", "[]".to_owned(), "model_attributes_type"),
        ("application/json", "{}".to_owned(), "missing"),
        ("text/plain", task("a").to_string(), "model_attributes_type"),
    ] {
        let request = stage.client.post(&url).header("content-type", content_type);
        let answer = request.body(body.clone()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 422, "{body}");
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["detail"][0]["type"], kind, "{body}");
        assert_eq!(answer["detail"][0]["loc"][0], "body");
    }
    assert_eq!(stage.state().await, "INIT");
}

#[tokio::test(flavor = "multi_thread")]
async fn r08_an_agent_is_registered_again_when_it_is_idle() {
    let stage = stage();
    assert_eq!(
        stage.status().await,
        json!({"state": "INIT", "current_task": null})
    );
    let early = stage.post(path::AGENT_TASK_START, Some(task("a"))).await;
    assert_eq!(early.0, 400);
    assert_eq!(early.1["success"], false);
    assert_eq!(stage.stop().await.0, 400);
    assert_eq!(stage.register().await, 200);
    assert_eq!(stage.state().await, "READY");
    assert_eq!(stage.register().await, 200);
    for bad in ["ftp://a", "nonsense", "http://u:p@a", ""] {
        let body = json!({ "evaluator_url": bad });
        let answer = stage.post(path::AGENT_REGISTER_EVALUATOR, Some(body)).await;
        assert_eq!(answer.0, 400, "{bad}");
    }
    let none = stage
        .post(path::AGENT_REGISTER_EVALUATOR, Some(json!({})))
        .await;
    assert_eq!(none.0, 422);
    assert_eq!(stage.state().await, "READY");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_its_desktop_says_so_and_is_ready_again() {
    let stage = stage();
    assert_eq!(stage.register().await, 200);
    stage.start("a").await;
    let word = stage.ear.hear();
    assert_eq!(word.body["task_id"], "a");
    assert_eq!(word.body["reason"], "agent_error");
    assert!(
        word.body["error"]
            .as_str()
            .is_some_and(|error| !error.is_empty())
    );
    stage.wait_for("READY").await;
    assert_eq!(stage.status().await["ended"]["reason"], "agent_error");
    let again = stage.post(path::AGENT_TASK_START, Some(task("a"))).await;
    assert_eq!(again.0, 400, "an id is used once");
    stage.start("b").await;
    assert_eq!(stage.ear.hear().body["task_id"], "b");
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_and_reset_work_in_every_state() {
    let stage = stage();
    assert_eq!(stage.post(path::AGENT_KILL, None).await.0, 200);
    assert_eq!(stage.post(path::AGENT_RESET, None).await.0, 200);
    assert_eq!(stage.state().await, "INIT");
    stage.register().await;
    stage.start("a").await;
    stage.ear.hear();
    stage.wait_for("READY").await;
    assert_eq!(stage.post(path::AGENT_KILL, None).await.0, 200);
    assert_eq!(stage.state().await, "READY");
    assert_eq!(stage.post(path::AGENT_ABORT, None).await.0, 400);
    assert_eq!(stage.post(path::AGENT_RESET, None).await.0, 200);
    assert_eq!(
        stage.status().await,
        json!({"state": "INIT", "current_task": null})
    );
    stage.register().await;
    stage.start("a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_the_server_and_is_shown_to_the_evaluator() {
    let options = ServerOptions {
        host: "0.0.0.0".to_owned(),
        token: Some(Token::new("secret").unwrap()),
        ..nowhere()
    };
    let stage = Stage::of(AgentServer::start(|| Box::new(nothing()), &options).unwrap());
    assert!(stage.server.url().starts_with("http://127.0.0.1:"));
    let status = format!("{}{}", stage.server.url(), path::AGENT_STATUS);
    let answer = stage.client.get(&status).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 401);
    let wrong = stage.client.get(&status).bearer_auth("wrong");
    assert_eq!(wrong.send().await.unwrap().status().as_u16(), 401);
    for (path, body) in [
        (
            path::AGENT_REGISTER_EVALUATOR,
            json!({ "evaluator_url": stage.ear.url }),
        ),
        (path::AGENT_TASK_START, task("a")),
    ] {
        let request = stage.client.post(format!("{}{path}", stage.server.url()));
        let answer = request
            .bearer_auth("secret")
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status().as_u16(), 200);
    }
    assert_eq!(stage.ear.hear().token.as_deref(), Some("Bearer secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn state_changes_come_as_events() {
    let stage = stage();
    let url = format!("{}{}", stage.server.url(), path::AGENT_EVENTS);
    let answer = stage.client.get(url).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut events = answer.bytes_stream();
    let mut text = String::new();
    let mut registered = false;
    while !text.contains("\"READY\"") {
        let chunk = events.next().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        if text.contains("\"INIT\"") && !registered {
            registered = true;
            stage.register().await;
        }
    }
    assert!(text.starts_with("event: state\ndata: {"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_go_on_over_one_connection() {
    let stage = stage();
    stage.register().await;
    for number in 0..20 {
        stage.start(&number.to_string()).await;
        stage.ear.hear();
        stage.wait_for("READY").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r16_an_evaluator_that_hangs_or_is_gone_holds_up_nobody() {
    let stage = stage();
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = "http://127.0.0.1:1".to_owned();
    for url in [format!("http://{}", deaf.local_addr().unwrap()), gone] {
        let body = json!({ "evaluator_url": url });
        assert_eq!(
            stage
                .post(path::AGENT_REGISTER_EVALUATOR, Some(body))
                .await
                .0,
            200
        );
        for id in ["a", "b", "c"] {
            stage.start(id).await;
            stage.wait_for("READY").await;
        }
    }
    assert_eq!(stage.register().await, 200);
    stage.start("a").await;
    assert_eq!(
        stage.ear.hear().body["task_id"],
        "a",
        "words to others are not sent here"
    );
}
