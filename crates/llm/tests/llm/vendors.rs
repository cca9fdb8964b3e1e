//! The vendors' own forms over a real connection: the address, the headers, the body, and what comes back.

use agon_core::{ModelFault, Money};
use agon_llm::{Delta, ModelSpec, Provider, Request, Wire};
use serde_json::{Value, json};

use crate::place::{KEY, Place, spec};
use crate::server::{Reaction, Seen, Server, Then};

struct Vendor {
    provider: Provider,
    wire: Wire,
    model: &'static str,
    path: &'static str,
    stream_path: &'static str,
    /// As they are sent, in small letters.
    headers: &'static [&'static str],
    /// Keys of the body, and what is there.
    body: Value,
    /// `hello`, of ten and five tokens.
    answer: Value,
    /// The same in pieces: names and data.
    events: Vec<(&'static str, Value)>,
    /// Of ten and five tokens as well.
    refusal: Value,
    limited: Value,
    unknown: Value,
}

fn responses() -> Vendor {
    let message = json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": "hello", "annotations": []}]});
    let answer = |output: Value| {
        json!({"id": "resp_1", "object": "response", "status": "completed", "error": null,
            "model": "gpt-4o-2024-08-06", "output": output,
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}})
    };
    let delta = |text: &str| json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": text});
    let error = |code: &str| json!({"error": {"message": "no", "type": code, "code": code}});
    Vendor {
        provider: Provider::OpenAi,
        wire: Wire::Responses,
        model: "gpt-4o",
        path: "/v1/responses",
        stream_path: "/v1/responses",
        headers: &["authorization: bearer sk-test-4f9a1c77e2b3"],
        body: json!({"model": "gpt-4o", "store": false, "temperature": 0.0,
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]}),
        answer: answer(json!([message])),
        events: vec![
            (
                "response.created",
                json!({"type": "response.created", "response": {"status": "in_progress"}}),
            ),
            ("response.output_text.delta", delta("hel")),
            ("response.output_text.delta", delta("lo")),
            (
                "response.completed",
                json!({"type": "response.completed", "response": answer(json!([message]))}),
            ),
        ],
        refusal: answer(json!([{"type": "message", "role": "assistant",
            "content": [{"type": "refusal", "refusal": "I can't."}]}])),
        limited: error("rate_limit_exceeded"),
        unknown: error("invalid_api_key"),
    }
}

fn messages() -> Vendor {
    let answer = |content: Value, stop: &str| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-3-7-sonnet-20250219",
            "content": content, "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 5}})
    };
    let mut begun = answer(json!([]), "");
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let delta = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "no"}});
    Vendor {
        provider: Provider::Anthropic,
        wire: Wire::Messages,
        model: "claude-3-7-sonnet-20250219",
        path: "/v1/messages",
        stream_path: "/v1/messages",
        headers: &[
            "x-api-key: sk-test-4f9a1c77e2b3",
            "anthropic-version: 2023-06-01",
        ],
        body: json!({"model": "claude-3-7-sonnet-20250219", "temperature": 0.0}),
        answer: answer(json!([{"type": "text", "text": "hello"}]), "end_turn"),
        events: vec![
            (
                "message_start",
                json!({"type": "message_start", "message": begun}),
            ),
            (
                "content_block_start",
                json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            ),
            ("ping", json!({"type": "ping"})),
            ("content_block_delta", delta("hel")),
            ("content_block_delta", delta("lo")),
            (
                "content_block_stop",
                json!({"type": "content_block_stop", "index": 0}),
            ),
            (
                "message_delta",
                json!({"type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 5}}),
            ),
            ("message_stop", json!({"type": "message_stop"})),
        ],
        refusal: answer(json!([]), "refusal"),
        limited: error("rate_limit_error"),
        unknown: error("authentication_error"),
    }
}

fn gemini() -> Vendor {
    let answer = |parts: Value, tokens: u64, finish: Option<&str>| {
        let mut body = json!({
            "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": tokens},
            "modelVersion": "gemini-2.5-flash",
        });
        if let Some(finish) = finish {
            body["candidates"][0]["finishReason"] = finish.into();
        }
        body
    };
    let error = |code: u16, status: &str| json!({"error": {"code": code, "message": "no", "status": status}});
    Vendor {
        provider: Provider::Gemini,
        wire: Wire::Gemini,
        model: "gemini-2.5-flash",
        path: "/v1/models/gemini-2.5-flash:generatecontent",
        stream_path: "/v1/models/gemini-2.5-flash:streamgeneratecontent?alt=sse",
        headers: &["x-goog-api-key: sk-test-4f9a1c77e2b3"],
        body: json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
        answer: answer(json!([{"text": "hello"}]), 5, Some("STOP")),
        events: vec![
            ("", answer(json!([{"text": "hel"}]), 2, None)),
            ("", answer(json!([{"text": "lo"}]), 5, Some("STOP"))),
        ],
        refusal: answer(json!([]), 5, Some("SAFETY")),
        limited: error(429, "RESOURCE_EXHAUSTED"),
        unknown: error(401, "UNAUTHENTICATED"),
    }
}

impl Vendor {
    fn all() -> [Self; 3] {
        [responses(), messages(), gemini()]
    }

    fn spec(&self, server: &Server) -> ModelSpec {
        let mut spec = spec(&server.url);
        spec.provider = self.provider;
        spec.wire = self.wire;
        spec.model = self.model.to_owned();
        spec.settings.input_cost_per_token = Some(Money::from_picos(3));
        spec.settings.output_cost_per_token = Some(Money::from_picos(7));
        spec
    }

    fn place(&self, server: &Server) -> Place {
        Place::with(self.spec(server), |_| {})
    }

    fn stream(&self) -> Reaction {
        let mut text =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
                .to_owned();
        for (name, data) in &self.events {
            if !name.is_empty() {
                text.push_str(&format!("event: {name}\n"));
            }
            text.push_str(&format!("data: {data}\n\n"));
        }
        Reaction::raw(text, Then::Close)
    }

    #[track_caller]
    fn was_asked(&self, seen: &Seen, path: &str) {
        let head = seen.head.to_lowercase();
        let first = head.lines().next().unwrap();
        assert_eq!(first, format!("post {path} http/1.1"));
        for header in self
            .headers
            .iter()
            .chain(&["content-type: application/json"])
        {
            assert!(head.lines().any(|line| line == *header), "{header}: {head}");
        }
        assert_eq!(head.matches(KEY).count(), 1, "{head}");
        for (key, value) in self.body.as_object().unwrap() {
            assert_eq!(&seen.body[key], value, "{key} of {}", seen.body);
        }
    }
}

#[tokio::test]
async fn an_answer_in_one_piece() {
    for vendor in Vendor::all() {
        let server = Server::start([Reaction::json(200, &vendor.answer)]).await;
        let place = vendor.place(&server);
        let reply = place.model.ask(&Request::user("hi")).await.unwrap();
        assert_eq!(
            (reply.text(), reply.usage.tokens()),
            ("hello".to_owned(), 15)
        );
        assert_eq!(reply.usage.money, Some(Money::from_picos(65)));
        let seen = server.seen();
        vendor.was_asked(&seen[0], vendor.path);
        assert!(seen[0].body.get("stream").is_none());
        assert_eq!(place.record().usage, reply.usage);
    }
}

#[tokio::test]
async fn an_answer_in_events() {
    for vendor in Vendor::all() {
        let server = Server::start([vendor.stream()]).await;
        let place = vendor.place(&server);
        let mut shown = Vec::new();
        let mut show = |delta| shown.push(delta);
        let request = Request::user("hi");
        let reply = place
            .model
            .ask_streaming(&request, &mut show)
            .await
            .unwrap();
        let pieces = ["hel", "lo"].map(|text| Delta::Text(text.to_owned()));
        assert_eq!(shown, pieces);
        assert_eq!(
            (reply.text(), reply.usage.tokens()),
            ("hello".to_owned(), 15)
        );
        vendor.was_asked(&server.seen()[0], vendor.stream_path);
        let record = place.record();
        assert_eq!((record.tries, record.usage), (1, reply.usage));
    }
}

#[tokio::test]
async fn too_many_requests() {
    for vendor in Vendor::all() {
        let limited = vendor.limited.to_string();
        let server = Server::start([
            Reaction::new(429, &[("retry-after", "3")], &limited),
            Reaction::json(200, &vendor.answer),
        ])
        .await;
        let place = vendor.place(&server);
        assert_eq!(place.ask().await.unwrap(), "hello");
        // With half of its tenth on top.
        assert_eq!(place.pace.waits(), [3.15]);
        let record = place.record();
        assert_eq!(
            (record.tries, record.usage.calls, record.usage.tokens()),
            (2, 1, 15)
        );
    }
}

#[tokio::test]
async fn a_key_that_is_wrong() {
    for vendor in Vendor::all() {
        let server = Server::start([Reaction::json(401, &vendor.unknown)]).await;
        let place = vendor.place(&server);
        let error = place.fails().await;
        assert_eq!(
            (error.fault, error.status),
            (ModelFault::Authentication, Some(401))
        );
        assert_eq!(server.count(), 1);
        assert!(place.record().usage.is_empty());
    }
}

#[tokio::test]
async fn a_refusal_is_paid_for() {
    for vendor in Vendor::all() {
        let server = Server::start([Reaction::json(200, &vendor.refusal)]).await;
        let place = vendor.place(&server);
        let error = place.fails().await;
        assert_eq!(error.fault, ModelFault::Refusal, "{error}");
        let record = place.record();
        assert_eq!((record.usage.calls, record.usage.tokens()), (1, 15));
        assert_eq!(record.usage.money, Some(Money::from_picos(65)));
        assert_eq!(place.account.spent(), record.usage);
        assert_eq!(server.count(), 1);
    }
}
