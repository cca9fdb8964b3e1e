//! Whatever comes over the network, no form of it may panic or go on for ever.

use agon_core::ModelFault;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::contract::Encoding;
use super::sample::spec;
use super::{Spoken, adapter};
use crate::spec::{Provider, Wire};

/// Keys and words that the readers look for, so that they are led far inside.
const WORDS: [&str; 60] = [
    "choices",
    "message",
    "messages",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "type",
    "text",
    "role",
    "user",
    "assistant",
    "system",
    "tool",
    "tool_call_id",
    "finish_reason",
    "length",
    "error",
    "code",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "output",
    "input",
    "function_call",
    "computer_call",
    "action",
    "actions",
    "call_id",
    "reasoning",
    "summary",
    "status",
    "incomplete",
    "input_text",
    "input_image",
    "image_url",
    "url",
    "data:image/png;base64,AA==",
    "output_text",
    "refusal",
    "index",
    "delta",
    "response",
    "item",
    "response.completed",
    "tools",
    "tool_choice",
    "stop",
    "reasoning_details",
    "candidates",
    "parts",
    "functionCall",
    "contents",
    "tool_use",
    "tool_result",
    "thinking",
    "content_block",
    "json_schema",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        1 => ".{0,6}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..3).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..8)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Something that begins as an answer or a request of each form does.
fn body() -> impl Strategy<Value = Value> {
    (value(), value(), value()).prop_map(|(a, b, c)| {
        serde_json::json!({
            "choices": [{"message": a, "delta": b, "finish_reason": c}],
            "output": [a, b], "candidates": [{"content": a}], "content": [a, b, c],
            "messages": [a, b, c], "input": [a, b, c], "contents": [a, b], "tools": [b, c],
            "type": c, "response": a, "item": b, "stop_reason": "end_turn",
        })
    })
}

proptest! {
    #[test]
    fn nothing_that_comes_breaks_a_form(bodies in proptest::collection::vec(prop_oneof![value(), body()], 1..4)) {
        for wire in [Wire::Chat, Wire::Responses, Wire::Messages, Wire::Gemini] {
            let adapter = adapter(wire);
            let spec = spec(Provider::OpenAi, "gpt-4o");
            let mut assembler = adapter.assembler();
            for body in &bodies {
                let text = body.to_string();
                let _ = adapter.fault(400, text.as_bytes());
                let _ = assembler.event(None, &text);
                for form in Spoken::ALL.map(Spoken::form) {
                    if let Ok(reply) = adapter.decode(&spec, body.clone()) {
                        let _ = form.write_reply("m", &reply);
                        let _ = form.write_stream("m", &reply);
                    }
                    if let Ok(mut request) = form.read_request(body.clone()) {
                        request.raw = None;
                        let _ = adapter.encode(&spec, &request, Encoding { stream: true });
                    }
                }
            }
            if let Ok(made) = assembler.finish() {
                let _ = adapter.decode(&spec, made);
            }
        }
    }
}

#[test]
fn a_stream_that_never_ends_is_not_kept() {
    for (wire, event) in [
        (
            Wire::Chat,
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"t"}]}}]}"#,
        ),
        (
            Wire::Responses,
            r#"{"type":"response.output_item.done","item":{"type":"message"}}"#,
        ),
        (
            Wire::Messages,
            r#"{"type":"content_block_start","index":@,"content_block":{}}"#,
        ),
        (
            Wire::Messages,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}"#,
        ),
        (
            Wire::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}"#,
        ),
        (Wire::Gemini, r#"{"key-@":0}"#),
        (Wire::Gemini, r#"{"candidates":[{"key-@":0}]}"#),
    ] {
        let mut assembler = adapter(wire).assembler();
        let refused = (0..5_000).find_map(|nth| {
            let event = event.replace('@', &nth.to_string());
            assembler.event(None, &event).err()
        });
        let refused = refused.unwrap();
        assert_eq!(refused.fault, ModelFault::BrokenResponse, "{event}");
        assert!(refused.message().contains("1024"), "{event}: {refused}");
    }
}
