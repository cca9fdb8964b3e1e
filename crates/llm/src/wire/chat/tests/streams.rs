//! Streams as services give them, and what is no stream.

use agon_core::ModelFault;
use serde_json::{Value, json};

use crate::client::Delta;
use crate::error::LlmError;
use crate::reply::Stop;
use crate::spec::Provider;
use crate::wire::chat::Chat;
use crate::wire::contract::Adapter;
use crate::wire::sample::spec;

fn assemble<S: AsRef<str>>(events: &[S]) -> Result<(Vec<Delta>, Value), LlmError> {
    let mut assembler = Chat.assembler();
    let mut shown = Vec::new();
    for event in events {
        shown.extend(assembler.event(None, event.as_ref())?);
    }
    Ok((shown, assembler.finish()?))
}

fn chunk(delta: Value, reason: Option<&str>) -> String {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-2024-08-06",
        "system_fingerprint": "fp", "usage": null,
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}],
    })
    .to_string()
}

fn usage() -> String {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-4o-2024-08-06", "choices": [],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}})
    .to_string()
}

#[test]
fn text_with_usage_at_the_end() {
    let events = [
        chunk(json!({"role": "assistant", "content": ""}), None),
        chunk(json!({"reasoning_content": "Hm."}), None),
        chunk(json!({"content": "Hel"}), None),
        chunk(json!({"content": "lo"}), None),
        chunk(json!({}), Some("stop")),
        usage(),
        "[DONE]".to_owned(),
    ];
    let (shown, body) = assemble(&events).unwrap();
    let expected = [
        Delta::Reasoning("Hm.".to_owned()),
        Delta::Text("Hel".to_owned()),
        Delta::Text("lo".to_owned()),
    ];
    assert_eq!(shown, expected);
    insta::assert_json_snapshot!(body);
    let reply = Chat
        .decode(&spec(Provider::OpenAi, "gpt-4o"), body)
        .unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.usage.input_tokens),
        ("Hello", 10)
    );
}

#[test]
fn arguments_come_in_pieces() {
    let call = |piece: Value| chunk(json!({"tool_calls": [piece]}), None);
    let events = [
        call(
            json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}}),
        ),
        call(json!({"index": 0, "function": {"arguments": "{\"city\":"}})),
        call(
            json!({"index": 1, "id": "call_2", "type": "function", "function": {"name": "now", "arguments": "{}"}}),
        ),
        call(json!({"index": 0, "id": "", "function": {"name": null, "arguments": "\"Bern\"}"}})),
        chunk(json!({}), Some("tool_calls")),
        "[DONE]".to_owned(),
    ];
    let (_, body) = assemble(&events).unwrap();
    let reply = Chat
        .decode(&spec(Provider::OpenAi, "gpt-4o"), body)
        .unwrap();
    assert_eq!(reply.stop, Stop::ToolCalls);
    let calls: Vec<_> = reply
        .tool_calls()
        .map(|call| (call.id.as_str(), &call.input))
        .collect();
    assert_eq!(
        calls,
        [("call_1", &json!({"city": "Bern"})), ("call_2", &json!({}))]
    );
}

#[test]
fn calls_without_an_index_are_told_apart_by_their_ids() {
    let call = |id: &str| json!({"tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let events = [
        chunk(call("a"), None),
        chunk(call("b"), None),
        chunk(json!({}), Some("tool_calls")),
    ];
    let (_, body) = assemble(&events).unwrap();
    let calls = body.pointer("/choices/0/message/tool_calls").unwrap();
    assert_eq!(calls.as_array().unwrap().len(), 2);
}

#[test]
fn content_may_come_in_parts() {
    let events = [
        chunk(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]}),
            None,
        ),
        chunk(
            json!({"content": [{"type": "text", "text": "So."}]}),
            Some("stop"),
        ),
    ];
    let (shown, body) = assemble(&events).unwrap();
    assert_eq!(
        shown,
        [
            Delta::Reasoning("Hm".to_owned()),
            Delta::Text("So.".to_owned())
        ]
    );
    assert_eq!(
        body.pointer("/choices/0/message"),
        Some(&json!({"role": "assistant", "content": "So.", "reasoning_content": "Hm"}))
    );
}

#[test]
fn signed_thoughts_are_put_together() {
    let detail = |text: &str, signature: Value| {
        json!({"reasoning": text, "reasoning_details": [
        {"type": "reasoning.text", "text": text, "index": 0, "signature": signature}]})
    };
    let events = [
        chunk(detail("Two ", Value::Null), None),
        chunk(detail("words", json!("sig")), None),
        chunk(json!({"content": "x"}), Some("stop")),
    ];
    let (_, body) = assemble(&events).unwrap();
    assert_eq!(
        body.pointer("/choices/0/message/reasoning_details"),
        Some(
            &json!([{"type": "reasoning.text", "text": "Two words", "index": 0, "signature": "sig"}])
        )
    );
}

#[test]
fn what_is_no_stream() {
    let begun = chunk(json!({"content": "Hel"}), None);
    let cases = [
        (vec![begun.clone()], ModelFault::Network),
        (vec![], ModelFault::Network),
        (vec![begun.clone(), usage()], ModelFault::Network),
        (vec!["<html>".to_owned()], ModelFault::BrokenResponse),
        (
            vec![begun.clone(), r#"{"error":{"message":"The server had an error","type":"server_error"}}"#.to_owned()],
            ModelFault::Overload,
        ),
        (
            vec![begun, r#"{"id":"x","error":{"code":429,"message":"slow"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#.to_owned()],
            ModelFault::RateLimit,
        ),
        (
            vec![chunk(json!({"tool_calls": [{"index": 4_000_000_000_u64, "id": "a"}]}), None)],
            ModelFault::BrokenResponse,
        ),
    ];
    for (events, fault) in cases {
        assert_eq!(assemble(&events).unwrap_err().fault, fault, "{events:?}");
    }
}
