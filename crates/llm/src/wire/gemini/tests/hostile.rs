//! Nothing that comes from outside makes it panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::decode::decode;
use crate::message::{Message, Role};
use crate::request::Request;
use crate::wire::contract::{Adapter, Encoding};
use crate::wire::gemini::Gemini;

const KEYS: [&str; 20] = [
    "candidates",
    "content",
    "parts",
    "text",
    "thought",
    "thoughtSignature",
    "functionCall",
    "args",
    "id",
    "name",
    "finishReason",
    "promptFeedback",
    "blockReason",
    "usageMetadata",
    "error",
    "status",
    "details",
    "inlineData",
    "mimeType",
    "data",
];

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&["STOP", "SAFETY", "MAX_TOKENS", "image/png", "1s", ""][..])
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let key = prop::sample::select(&KEYS[..]).prop_map(str::to_owned);
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
        let wrapped = json!({"candidates": [{"content": {"parts": body}, "finishReason": "STOP"}]});
        for body in [body.clone(), wrapped] {
            if let Ok(reply) = decode(body) {
                let request = Request::new([Message::new(Role::Assistant, reply.parts)]);
                let spec = super::encode::spec("gemini-3.5-flash");
                let _ = Gemini.encode(&spec, &request, Encoding::default());
            }
        }
        let _ = Gemini.fault(status, body.to_string().as_bytes());
        let _ = Gemini.fault(status, json!({"error": body}).to_string().as_bytes());
    }

    #[test]
    fn no_stream_panics(events in prop::collection::vec(anything(), 0..8)) {
        let mut assembler = Gemini.assembler();
        for event in events {
            let _ = assembler.event(None, &event.to_string());
            let event = json!({"candidates": [{"content": {"parts": event}}]});
            let _ = assembler.event(None, &event.to_string());
        }
        let _ = assembler.event(None, r#"{"candidates": [{"finishReason": "STOP"}]}"#);
        if let Ok(body) = assembler.finish() {
            let _ = decode(body);
        }
    }
}
