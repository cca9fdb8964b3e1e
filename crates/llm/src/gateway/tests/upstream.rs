//! Gateways in front of a service that takes its time: what it is sent, what is paid for, and what the
//! agent sees of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ground::{Ground, LONG, hello, said, sandbox, with};
use crate::account::{Account, Budget};
use crate::client::{Model, Session, SessionOptions};
use crate::gateway::accept::serve;
use crate::gateway::allowed::Allowed;
use crate::gateway::desk::Desk;
use crate::key::Key;
use crate::spec::{ModelSpec, Provider, Settings, Wire};

const SECRET: &str = "sk-upstream-0123456789abcdef";

/// A call that the service has got: its head, its body, and where the answer goes.
pub(super) struct Call {
    head: String,
    pub(super) body: Value,
    stream: TcpStream,
}

impl Call {
    pub(super) async fn answer(mut self, status: &str, body: &Value) {
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        let _ = self.stream.write_all((head + &body).as_bytes()).await;
    }

    /// The same as a stream.
    async fn stream(mut self, events: &[Value]) {
        let mut text =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
                .to_owned();
        for event in events {
            text += &format!("data: {event}\n\n");
        }
        text += "data: [DONE]\n\n";
        let _ = self.stream.write_all(text.as_bytes()).await;
    }

    async fn say(self, text: &str) {
        let body = json!({
            "id": "x", "object": "chat.completion", "created": 0, "model": "big-1",
            "choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        });
        self.answer("200 OK", &body).await;
    }
}

/// A service that answers when the test says so.
pub(super) async fn service() -> (Model, mpsc::Receiver<Call>) {
    service_of(Wire::Chat, "big-1", &SessionOptions::default()).await
}

async fn service_of(
    wire: Wire,
    model: &str,
    options: &SessionOptions,
) -> (Model, mpsc::Receiver<Call>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, calls) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                if let Some(call) = read(stream).await {
                    let _ = tell.send(call).await;
                }
            });
        }
    });
    let spec = ModelSpec {
        name: "big".to_owned(),
        provider: Provider::Compatible,
        wire,
        model: model.to_owned(),
        base_url,
        key: Some(Key::new(SECRET)),
        settings: Settings {
            num_retries: 1,
            max_output_tokens: Some(90),
            ..Settings::default()
        },
    };
    let session = Session::open(options).unwrap();
    (session.model(spec).unwrap(), calls)
}

async fn read(stream: TcpStream) -> Option<Call> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let length = head.to_lowercase();
    let length = length.split("content-length: ").nth(1)?;
    let mut body = vec![0; length.lines().next()?.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    let stream = stream.into_inner();
    Some(Call { head, body, stream })
}

fn before(model: Model) -> Ground {
    with(vec![model], Budget::default(), 4, sandbox())
}

#[tokio::test]
async fn a_body_of_the_same_form_is_passed_on_with_our_model_and_our_key() {
    let (model, mut calls) = service().await;
    let ground = before(model);
    let mut body = hello();
    body["model"] = "big".into();
    body["logit_bias"] = json!({"50256": -100});
    body["metadata"] = json!({"tags": ["nobody's business"]});
    let asked = ground.post("/v1/chat/completions", &body);
    let answered = async {
        let call = calls.recv().await.unwrap();
        assert_eq!(call.body["model"], "big-1");
        assert_eq!(call.body["logit_bias"], json!({"50256": -100}));
        // As the configuration says, since the client does not.
        assert_eq!(call.body["temperature"], 0.0);
        assert_eq!(call.body["max_tokens"], 90);
        assert_eq!(call.body.get("metadata"), None);
        assert!(call.head.contains(SECRET), "{}", call.head);
        call.say("done").await;
    };
    let ((status, body), ()) = tokio::join!(asked, answered);
    assert_eq!((status, said(&body)), (200, &"done".into()), "{body}");
    assert_eq!(body["model"], "big");
    let spent = ground.account.spent();
    assert_eq!(
        (spent.calls, spent.input_tokens, spent.output_tokens),
        (1, 7, 3)
    );
}

#[tokio::test]
async fn a_service_is_asked_for_a_stream_whatever_the_client_wants() {
    let (model, mut calls) = service().await;
    let ground = before(model);
    let body = hello();
    let asked = ground.post("/v1/chat/completions", &body);
    let answered = async {
        let call = calls.recv().await.unwrap();
        assert_eq!(call.body["stream"], true);
        let chunk = |delta: Value, reason: Value| {
            json!({"id": "x", "model": "big-1",
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        };
        call.stream(&[
            chunk(json!({"role": "assistant", "content": "do"}), Value::Null),
            chunk(json!({"content": "ne"}), "stop".into()),
            json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}),
        ])
        .await;
    };
    let ((status, body), ()) = tokio::join!(asked, answered);
    assert_eq!((status, said(&body)), (200, &"done".into()), "{body}");
    assert_eq!(ground.account.spent().input_tokens, 7);
}

#[tokio::test]
async fn features_by_name_are_passed_on_if_they_are_known() {
    let (model, mut calls) = service_of(
        Wire::Messages,
        "claude-sonnet-4-5",
        &SessionOptions::default(),
    )
    .await;
    let ground = before(model);
    let sent = ground.client.post(format!("{}/v1/messages", ground.base));
    let sent = sent.header(
        "anthropic-beta",
        "mcp-client-2025-04-04,interleaved-thinking-2025-05-14",
    );
    let asked = sent.body(hello().to_string()).send();
    let answered = async {
        let call = calls.recv().await.unwrap();
        let beta = call
            .head
            .lines()
            .find(|line| line.starts_with("anthropic-beta"));
        assert_eq!(
            beta,
            Some("anthropic-beta: interleaved-thinking-2025-05-14")
        );
        let body = json!({"id": "x", "type": "message", "role": "assistant", "model": "claude",
            "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3}});
        call.answer("200 OK", &body).await;
    };
    let (response, ()) = tokio::join!(asked, answered);
    let body = super::ground::response_json(response.unwrap()).await;
    assert_eq!(
        (&body["content"][0]["text"], &body["model"]),
        (&"done".into(), &"big".into())
    );
}

#[tokio::test]
async fn an_answer_of_another_tier_has_no_price() {
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.toml");
    std::fs::write(&prices, "[models.big]\ninput = 1\noutput = 1\n").unwrap();
    let options = SessionOptions {
        prices: Some(prices),
        ..SessionOptions::default()
    };
    let (model, mut calls) = service_of(Wire::Chat, "big-1", &options).await;
    let ground = before(model);
    for (tier, unpriced) in [("default", 0), ("priority", 1)] {
        let body = hello();
        let asked = ground.post("/v1/chat/completions", &body);
        let answered = async {
            let body = json!({"id": "x", "service_tier": tier,
                "choices": [{"index": 0, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "done"}}],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
            calls.recv().await.unwrap().answer("200 OK", &body).await;
        };
        let ((status, body), ()) = tokio::join!(asked, answered);
        assert_eq!(status, 200, "{body}");
        let spent = ground.account.spent();
        assert_eq!(
            spent.money.map(agon_core::Money::micros),
            Some(10),
            "{tier}"
        );
        assert_eq!(spent.unpriced_calls, unpriced, "{tier}");
    }
}

#[tokio::test]
async fn a_service_that_blurts_out_the_key_does_not_give_it_away() {
    let (model, mut calls) = service().await;
    let ground = before(model);
    let body = hello();
    let asked = ground.post("/v1/messages", &body);
    let answered = async {
        let call = calls.recv().await.unwrap();
        assert_eq!(call.body["max_tokens"], 90);
        let message = format!("the key {SECRET} is not allowed to do this");
        call.answer("403 Forbidden", &json!({"error": {"message": message}}))
            .await;
    };
    let ((status, body), ()) = tokio::join!(asked, answered);
    assert_eq!(status, 502, "{body}");
    assert!(!body.to_string().contains(SECRET), "{body}");
    assert!(body.to_string().contains("is not allowed"), "{body}");
}

#[tokio::test]
async fn what_was_begun_is_paid_for_though_nobody_waits() {
    let (model, mut calls) = service().await;
    let ground = before(model);
    let body = hello().to_string();
    let mut client = TcpStream::connect(ground.address()).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.write_all((head + &body).as_bytes()).await.unwrap();
    let call = timeout(LONG, calls.recv()).await.unwrap().unwrap();
    drop(client);
    // Another connection is served meanwhile, by which time the first is known to be gone.
    assert_eq!(ground.get("/v1/models").await.0, 200);
    call.say("done").await;
    let booked = async {
        while ground.account.spent().calls == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, booked).await.unwrap();
    assert_eq!(ground.account.spent().input_tokens, 7);
    assert!(ground.account.take_calls()[0].error.is_none());
}

#[tokio::test]
async fn the_end_cuts_off_calls_and_none_is_booked_after_it() {
    let (model, mut calls) = service().await;
    let ground = before(model);
    let client = ground.client.clone();
    let url = format!("{}/v1/chat/completions", ground.base);
    let waiting = tokio::spawn(client.post(url).body(hello().to_string()).send());
    let call = timeout(LONG, calls.recv()).await.unwrap().unwrap();
    timeout(LONG, ground.gateway.close()).await.unwrap();
    assert!(waiting.await.unwrap().is_err());
    let booked = ground.account.take_calls();
    call.say("too late").await;
    assert!(booked.iter().all(|call| call.error.is_some()), "{booked:?}");
    assert!(ground.account.take_calls().is_empty());
}

/// A gateway whose streams show soon that they are there.
async fn impatient(model: Model) -> (String, Arc<Account>, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let account = Arc::new(Account::of_trial(Budget::default(), None));
    let (closed, tasks) = (CancellationToken::new(), TaskTracker::new());
    let allowed = Allowed::new(vec![model]).unwrap();
    let desk = Desk::new(
        allowed,
        Arc::clone(&account),
        None,
        4,
        closed.clone(),
        tasks.clone(),
    )
    .still_here_every(Duration::from_millis(5));
    tokio::spawn(serve(listener, Arc::new(desk), closed.clone(), tasks));
    (address, account, closed)
}

#[tokio::test]
async fn a_stream_shows_that_it_is_there_until_the_answer_comes() {
    for wire in ["/v1/chat/completions", "/v1/messages"] {
        for fails in [false, true] {
            let (model, mut calls) = service().await;
            let (address, _, closed) = impatient(model).await;
            let mut body = hello();
            body["stream"] = true.into();
            let body = body.to_string();
            let mut client = TcpStream::connect(&address).await.unwrap();
            let head = format!(
                "POST {wire} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            client.write_all((head + &body).as_bytes()).await.unwrap();
            let call = timeout(LONG, calls.recv()).await.unwrap().unwrap();
            let mut client = BufReader::new(client);
            let mut seen = String::new();
            while seen.matches(": still waiting").count() < 3 {
                let read = timeout(LONG, client.read_line(&mut seen)).await.unwrap();
                assert_ne!(read.unwrap(), 0, "{seen}");
            }
            match fails {
                false => call.say("done").await,
                true => {
                    let why = json!({"error": {"message": "it is so"}});
                    call.answer("400 Bad Request", &why).await;
                }
            }
            timeout(LONG, client.read_to_string(&mut seen))
                .await
                .unwrap()
                .unwrap();
            assert!(seen.starts_with("HTTP/1.1 200 OK"), "{seen}");
            let wanted = if fails { "it is so" } else { "done" };
            assert!(seen.contains(wanted), "{seen}");
            assert_eq!(seen.contains("event: error"), fails, "{seen}");
            closed.cancel();
        }
    }
}

#[tokio::test]
async fn tools_hidden_in_what_is_said_never_reach_the_service() {
    let options = SessionOptions::default();
    let (model, mut calls) = service_of(Wire::Responses, "big-1", &options).await;
    let ground = before(model);
    let item = |tool: &str| {
        json!({"type": "additional_tools", "role": "developer", "tools":
        [{"type": "namespace", "name": "n", "tools": [{"type": tool, "name": "x"}]}]})
    };
    let body = |tool: &str| json!({"input": [{"role": "user", "content": "hi"}, item(tool)]});
    let (status, refused) = ground.post("/v1/responses", &body("web_search")).await;
    let why = refused["error"]["message"].as_str().unwrap();
    assert_eq!(status, 400, "{refused}");
    assert!(why.contains("`input[1].tools[0].tools[0]`"), "{why}");
    // One that the agent carries out itself passes as it is.
    let harmless = body("function");
    let asked = ground.post("/v1/responses", &harmless);
    let answered = async {
        let call = calls.recv().await.unwrap();
        assert_eq!(call.body["input"][1], item("function"));
        let answer = json!({"id": "x", "object": "response", "status": "completed", "model": "big-1",
            "output": [{"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "done", "annotations": []}]}],
            "usage": {"input_tokens": 7, "output_tokens": 3}});
        call.answer("200 OK", &answer).await;
    };
    let ((status, body), ()) = tokio::join!(asked, answered);
    assert_eq!(status, 200, "{body}");
}

#[tokio::test]
async fn files_that_lie_at_the_service_are_refused_in_every_form() {
    let chat = json!({"messages": [{"role": "user", "content":
        [{"type": "file", "file": {"file_id": "file-7"}}]}]});
    let responses = json!({"input": [{"role": "user", "content":
        [{"type": "input_file", "file_id": "file-7"}]}]});
    let messages = json!({"max_tokens": 9, "messages": [{"role": "user", "content":
        [{"type": "document", "source": {"type": "file", "file_id": "file-7"}}]}]});
    for (wire, path, body) in [
        (Wire::Chat, "/v1/chat/completions", chat),
        (Wire::Responses, "/v1/responses", responses),
        (Wire::Messages, "/v1/messages", messages),
    ] {
        let (model, mut calls) = service_of(wire, "big-1", &SessionOptions::default()).await;
        let ground = before(model);
        let (status, refused) = ground.post(path, &body).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused.to_string().contains("file"), "{refused}");
        assert!(calls.try_recv().is_err());
    }
}

/// An item that is not understood would be missed by the model: nothing is left out in silence.
#[tokio::test]
async fn what_another_form_can_t_say_is_refused_and_not_dropped() {
    let (model, mut calls) = service().await;
    let ground = before(model);
    let items = [
        json!({"type": "additional_tools", "tools": [{"type": "function", "name": "f"}]}),
        json!({"type": "compaction", "encrypted_content": "x"}),
        json!({"type": "local_shell_call", "call_id": "1", "action": {"type": "exec"}}),
    ];
    for item in items {
        let body = json!({"input": [{"role": "user", "content": "hi"}, item]});
        let (status, refused) = ground.post("/v1/responses", &body).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused.to_string().contains("Responses only"), "{refused}");
    }
    assert!(calls.try_recv().is_err());
}

#[tokio::test]
async fn a_miss_of_the_tape_tells_the_agent_nothing_of_other_calls() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("calls.tape");
    let recording = crate::tape::Recording::create(&tape).unwrap();
    let secret = json!({"model": "big-1", "messages": [{"role": "user", "content": "the door opens by 4711"}]});
    recording
        .keep(Wire::Chat, "big-1", &secret, &json!({}))
        .unwrap();
    drop(recording);
    let options = SessionOptions {
        replay: Some(tape),
        ..SessionOptions::default()
    };
    let (model, _calls) = service_of(Wire::Chat, "big-1", &options).await;
    let ground = before(model);
    for path in ["/v1/chat/completions", "/v1/messages"] {
        let mut body = hello();
        for stream in [false, true] {
            body["stream"] = stream.into();
            let (status, told) = ground.post(path, &body).await;
            let told = told.to_string();
            assert_eq!(status, 502, "{told}");
            assert!(told.contains("tape") && !told.contains("4711"), "{told}");
            assert!(!told.contains("calls.tape"), "{told}");
        }
    }
    let calls = ground.account.take_calls();
    let recorded = calls[0].error.as_ref().unwrap().message();
    assert!(recorded.contains("4711"), "{recorded}");
    assert!(!ground.account.missed_tape());
}
