//! The gateway over real connections: who is answered, in which form, and what is booked.

use agon_core::{ModelFault, Purpose};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ground::{LONG, hello, inside, open, response_json, said, sandbox};
use crate::account::{Budget, CallRecord};
use crate::gateway::At;

#[tokio::test]
async fn all_three_forms_are_answered_and_booked() {
    let ground = inside(&["echo"]);
    let (status, body) = ground.post("/v1/chat/completions", &hello()).await;
    assert_eq!((status, said(&body)), (200, &"hello".into()), "{body}");
    assert_eq!(body["model"], "agon");
    let (status, body) = ground.post("/v1/messages", &hello()).await;
    let text = &body["content"][0]["text"];
    assert_eq!((status, text), (200, &"hello".into()), "{body}");
    let (status, body) = ground.post("/responses", &json!({"input": "hello"})).await;
    let text = &body["output"][0]["content"][0]["text"];
    assert_eq!((status, text), (200, &"hello".into()), "{body}");

    let calls = ground.account.take_calls();
    assert_eq!(calls.len(), 3);
    let well = |call: &crate::CallRecord| call.purpose == Purpose::Gateway && call.error.is_none();
    assert!(calls.iter().all(well), "{calls:?}");
    assert_eq!(ground.account.spent().calls, 3);
}

#[tokio::test]
async fn streams_hold_the_same_and_end_as_the_vendors_do() {
    let ground = inside(&["echo"]);
    let stream = async |path: &str, mut body: Value| {
        body["stream"] = true.into();
        let (status, text) = ground.post(path, &body).await;
        assert_eq!(status, 200, "{text}");
        text.as_str().unwrap().to_owned()
    };
    let chat = stream("/v1/chat/completions", hello()).await;
    assert!(chat.contains("hello"), "{chat}");
    assert!(chat.ends_with("data: [DONE]\n\n"), "{chat}");
    let messages = stream("/v1/messages", hello()).await;
    assert!(messages.starts_with("event: message_start\n"), "{messages}");
    assert!(messages.contains("hello"), "{messages}");
    assert!(messages.contains("event: message_stop\n"), "{messages}");
    let responses = stream("/v1/responses", json!({"input": "hello"})).await;
    let end = "event: response.completed\n";
    assert!(responses.contains(end), "{responses}");
}

#[tokio::test]
async fn only_the_trials_models_are_there() {
    let ground = inside(&["text:first", "text:second"]);
    let ask = async |model: Value| {
        let mut body = hello();
        body["model"] = model;
        ground.post("/v1/chat/completions", &body).await
    };
    for first in [
        json!("agon"),
        json!("default"),
        json!(null),
        json!("openai/default"),
    ] {
        let (_, body) = ask(first.clone()).await;
        assert_eq!(said(&body), "first", "{first}");
    }
    for second in ["mock/text:second", "text:second", "openai/text:second"] {
        let (_, body) = ask(second.into()).await;
        assert_eq!(said(&body), "second", "{second}");
    }
    let (status, body) = ask("gpt-9".into()).await;
    assert_eq!(status, 404);
    let message = body["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`gpt-9`") && message.contains("`agon`"),
        "{message}"
    );
    let mut other = hello();
    other["model"] = "claude-9".into();
    let (status, body) = ground.post("/v1/messages", &other).await;
    assert_eq!((status, &body["type"]), (404, &"error".into()), "{body}");

    let (_, list) = ground.get("/v1/models").await;
    assert_eq!(list["data"][0]["id"], "agon", "{list}");
    let (status, one) = ground.get("/models/text%3Asecond").await;
    assert_eq!((status, &one["object"]), (200, &"model".into()), "{one}");
    let (made, refused) = sorted(ground.account.take_calls());
    assert_eq!((made.len(), refused.len()), (7, 2));
    assert!(refused[0].contains("404") && refused[0].contains("`gpt-9`"));
}

/// Calls that were made, and why the others were not.
fn sorted(calls: Vec<CallRecord>) -> (Vec<CallRecord>, Vec<String>) {
    let (made, refused): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.tries > 0);
    let why = |call: CallRecord| {
        let error = call.error.unwrap();
        // Or an agent could have its trial played again by asking for what it can't have.
        assert!(!error.fault.of_service(), "{error}");
        assert_eq!((call.request, call.response), (None, None));
        error.message().to_owned()
    };
    (made, refused.into_iter().map(why).collect())
}

#[tokio::test]
async fn a_prefix_is_taken_off_once_and_the_answer_has_the_name_of_ours() {
    let ground = inside(&["echo"]);
    let mut body = hello();
    body["model"] = "openai/echo".into();
    let (status, answer) = ground.post("/v1/chat/completions", &body).await;
    assert_eq!((status, &answer["model"]), (200, &"agon".into()));
    // Deeper than any stack, and longer than any message.
    body["model"] = "openai/".repeat(2 << 20).into();
    let (status, answer) = ground.post("/v1/chat/completions", &body).await;
    assert_eq!(status, 404);
    assert!(answer.to_string().len() < 1_000, "{answer}");
}

#[tokio::test]
async fn keys_that_nobody_knows_are_refused_by_name() {
    let ground = inside(&["echo"]);
    for (path, key) in [
        ("/v1/chat/completions", "extra_body"),
        ("/v1/responses", "search_parameters"),
        ("/v1/messages", "inference_geo"),
    ] {
        let mut body = hello();
        body["input"] = "hello".into();
        for other in ["messages", "max_tokens", "input"] {
            if (path == "/v1/responses") == (other != "input") {
                body.as_object_mut().unwrap().remove(other);
            }
        }
        assert_eq!(ground.post(path, &body).await.0, 200, "{path}");
        body[key] = json!({"x": 1});
        let (status, answer) = ground.post(path, &body).await;
        assert_eq!(status, 400, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{key}`")), "{message}");
    }
}

#[tokio::test]
async fn what_is_refused_is_on_the_record_up_to_a_number() {
    let ground = inside(&["echo"]);
    for (path, body, why) in [
        ("/v1/chat/completions", json!({"n": 1}), "messages"),
        ("/v1/messages", json!({"mcp_servers": [1]}), "mcp_servers"),
        ("/v1/responses", json!({"model": "other"}), "`other`"),
        ("/v1/responses", json!([]), "object"),
    ] {
        assert!(ground.post(path, &body).await.0 >= 400);
        let (made, refused) = sorted(ground.account.take_calls());
        assert_eq!((made.len(), refused.len()), (0, 1), "{body}");
        let why = refused[0].contains(why) && refused[0].contains("gateway with 40");
        assert!(why, "{refused:?}");
    }
    // What is no call leaves nothing.
    assert_eq!(ground.post("/v1/embeddings", &hello()).await.0, 404);
    assert_eq!(ground.get("/v1/models/other").await.0, 404);
    assert!(ground.account.take_calls().is_empty());
    for _ in 0..1_010 {
        assert_eq!(ground.post("/v1/messages", &json!({})).await.0, 400);
    }
    assert_eq!(ground.account.take_calls().len(), 1_000 - 4);
    assert!(ground.account.spent().is_empty());
}

#[tokio::test]
async fn there_is_room_again_when_calls_are_recorded() {
    let ground = inside(&["text:x"]);
    let ask = async || ground.post("/v1/chat/completions", &hello()).await;
    for _ in 0..1_000 {
        assert_eq!(ask().await.0, 200);
    }
    let (status, body) = ask().await;
    assert_eq!(status, 429, "{body}");
    // As the engine does every second, however long the agent takes for its action.
    assert_eq!(ground.account.take_calls().len(), 1_001);
    assert_eq!(ask().await.0, 200);
}

#[tokio::test]
async fn a_spent_budget_is_told_for_good_and_nothing_is_asked() {
    let budget = Budget {
        tokens: Some(50),
        money: None,
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("answers.json");
    let usage = json!({"input_tokens": 40, "output_tokens": 10});
    std::fs::write(
        &script,
        json!([{"text": "yes", "usage": usage}]).to_string(),
    )
    .unwrap();
    let ground = open(
        &[&format!("script:{}", script.display())],
        budget,
        16,
        sandbox(),
    );
    let (status, _) = ground.post("/v1/chat/completions", &hello()).await;
    assert_eq!(status, 200);
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let sent = ground.client.post(format!("{}{path}", ground.base));
        let response = sent.body(hello().to_string()).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 402);
        assert_eq!(response.headers()["x-should-retry"], "false");
        let body = response_json(response).await;
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("budget"), "{message}");
    }
    assert_eq!(ground.account.spent().calls, 1);
}

#[tokio::test]
async fn faults_keep_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("faults.json");
    let faults = [
        (ModelFault::Overload, 503, 529),
        (ModelFault::RateLimit, 429, 429),
        (ModelFault::ContextOverflow, 400, 400),
        (ModelFault::Refusal, 400, 400),
        (ModelFault::Network, 502, 502),
        (ModelFault::Authentication, 502, 502),
        (ModelFault::Timeout, 504, 504),
    ];
    for (fault, of_chat, of_messages) in faults {
        let answers = json!([{"fault": fault, "why": "it is so"}]);
        std::fs::write(&script, answers.to_string()).unwrap();
        let ground = inside(&[&format!("script:{}", script.display())]);
        for (path, wanted) in [
            ("/v1/chat/completions", of_chat),
            ("/v1/messages", of_messages),
        ] {
            let (status, body) = ground.post(path, &hello()).await;
            assert_eq!(status, wanted, "{fault} {path}: {body}");
            let message = body["error"]["message"].as_str().unwrap();
            assert!(message.contains("it is so"), "{body}");
            let mut stream = hello();
            stream["stream"] = true.into();
            let (status, body) = ground.post(path, &stream).await;
            assert_eq!(status, wanted, "{fault} {path} as a stream: {body}");
        }
        let calls = ground.account.take_calls();
        assert_eq!(calls.last().unwrap().error.as_ref().unwrap().fault, fault);
    }
}

#[tokio::test]
async fn on_the_hosts_loopback_the_token_is_wanted() {
    let ground = open(&["echo"], Budget::default(), 16, At::Loopback);
    let key = ground.gateway.environment()["OPENAI_API_KEY"].clone();
    assert_eq!(key.len(), "agon-".len() + 48);
    let status = async |header: &str, value: &str| {
        let sent = ground
            .client
            .post(format!("{}/v1/chat/completions", ground.base));
        let sent = sent.header(header, value).body(hello().to_string());
        sent.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("authorization", &format!("Bearer {key}")).await, 200);
    assert_eq!(status("x-api-key", &key).await, 200);
    for wrong in ["", "agon", &key[1..], &format!("{key}x")] {
        assert_eq!(
            status("authorization", &format!("Bearer {wrong}")).await,
            401
        );
        assert_eq!(status("x-api-key", wrong).await, 401);
    }
    assert_eq!(ground.get("/v1/models").await.0, 401);
}

#[tokio::test]
async fn other_paths_and_bodies_are_told_what_is_wrong() {
    let ground = inside(&["echo"]);
    for path in [
        "/",
        "/v1/embeddings",
        "/v1/chat/completions/x",
        "/etc/passwd",
    ] {
        let (status, body) = ground.post(path, &hello()).await;
        assert_eq!(status, 404, "{path}");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("/v1/responses"), "{message}");
    }
    for body in [json!([]), json!({"model": "agon"}), json!({"messages": 7})] {
        let (status, _) = ground.post("/v1/chat/completions", &body).await;
        assert_eq!(status, 400, "{body}");
    }
    let out = json!({"messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "http://example.org/"}}]}]});
    let (status, body) = ground.post("/v1/chat/completions", &out).await;
    assert_eq!(status, 400, "{body}");
    assert!(body.to_string().contains("no network"), "{body}");
    let (_, body) = ground.post("/v1/messages/count_tokens", &hello()).await;
    assert!(body["input_tokens"].as_u64().unwrap() >= 1);
    let (made, refused) = sorted(ground.account.take_calls());
    assert_eq!((made.len(), refused.len()), (0, 4));
}

#[tokio::test]
async fn only_so_many_are_in_flight() {
    let ground = open(&["echo"], Budget::default(), 1, sandbox());
    let slow = ground.begin().await;
    let refused = async {
        loop {
            let (status, body) = ground.post("/v1/chat/completions", &hello()).await;
            // The slow one may not have got its place yet.
            if status != 200 {
                return (status, body);
            }
        }
    };
    let (status, body) = timeout(LONG, refused).await.unwrap();
    assert_eq!(status, 429, "{body}");
    assert!(body.to_string().contains("same time"), "{body}");
    drop(slow);
    let served = async { while ground.post("/v1/chat/completions", &hello()).await.0 != 200 {} };
    timeout(LONG, served).await.unwrap();
}

#[tokio::test]
async fn after_its_end_nothing_is_answered() {
    let ground = inside(&["echo"]);
    let mut held = ground.begin().await;
    let address = ground.address().to_owned();
    ground.gateway.close().await;
    let mut rest = Vec::new();
    // Cut off without a word.
    let _ = timeout(LONG, held.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_dropped_gateway_is_closed_too() {
    let ground = inside(&["echo"]);
    let mut held = ground.begin().await;
    drop(ground.gateway);
    let mut rest = Vec::new();
    let _ = timeout(LONG, held.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.is_empty());
}
