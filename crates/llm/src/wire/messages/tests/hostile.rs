//! Nothing that comes from outside makes it panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::decode::decode;
use crate::reply::{Reply, Stop};
use crate::request::Request;
use crate::spec::Provider;
use crate::wire::contract::{Adapter, Encoding, Served};
use crate::wire::messages::Messages;
use crate::wire::sample::spec;

const KEYS: [&str; 26] = [
    "type",
    "content",
    "text",
    "thinking",
    "signature",
    "tool_use",
    "tool_result",
    "id",
    "name",
    "input",
    "index",
    "delta",
    "usage",
    "message",
    "error",
    "messages",
    "max_tokens",
    "role",
    "system",
    "tools",
    "source",
    "data",
    "stop_reason",
    "content_block",
    "partial_json",
    "toolset_name",
];
const WORDS: [&str; 18] = [
    "text",
    "thinking",
    "tool_use",
    "tool_result",
    "image",
    "error",
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "refusal",
    "end_turn",
    "computer",
    "assistant",
    "message",
    "base64",
    "",
];

pub(crate) fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        let key = prop_oneof![
            8 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned),
            1 => ".{0,4}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn no_answer_panics(body in anything(), status in 0u16..700) {
        let _ = decode(body.clone());
        let _ = decode(json!({"content": body, "stop_reason": "end_turn"}));
        let _ = Messages.fault(status, body.to_string().as_bytes());
        let reply = Reply {
            parts: Vec::new(),
            stop: Stop::End,
            usage: agon_core::Usage::default(),
            model: String::new(),
            raw: body,
        };
        let _ = Messages.write_stream("m", &reply);
    }

    #[test]
    fn no_stream_panics(events in prop::collection::vec(anything(), 0..8)) {
        let mut assembler = Messages.assembler();
        for event in events {
            let _ = assembler.event(None, &event.to_string());
            for kind in ["message_start", "content_block_start", "content_block_delta", "message_delta"] {
                let event = json!({
                    "type": kind, "message": event, "content_block": event, "delta": event, "usage": event,
                });
                let _ = assembler.event(Some(kind), &event.to_string());
            }
        }
        let _ = assembler.event(None, r#"{"type": "message_stop"}"#);
        if let Ok(body) = assembler.finish() {
            let _ = decode(body);
        }
    }

    #[test]
    fn no_request_of_a_client_panics(body in anything()) {
        let spec = spec(Provider::Anthropic, "claude-opus-5-5");
        let wrapped = json!({"messages": [{"role": "user", "content": body}], "max_tokens": 1, "tools": [body]});
        for body in [body, wrapped] {
            if let Ok(mut request) = Messages.read_request(body) {
                let _ = Messages.encode(&spec, &request, Encoding::default());
                request.raw = None;
                let _ = Messages.encode(&spec, &request, Encoding { stream: true });
            }
        }
        let _ = Messages.encode(&spec, &Request::default(), Encoding::default());
    }
}
