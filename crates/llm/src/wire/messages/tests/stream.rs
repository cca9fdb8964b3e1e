//! Streams as the documentation shows them, whole and cut.

use agon_core::ModelFault;
use serde_json::{Value, json};

use super::decode::decode;
use crate::LlmError;
use crate::client::Delta;
use crate::wire::contract::Adapter;
use crate::wire::messages::Messages;

/// What was shown, and the body.
pub(super) fn play(events: &[Value]) -> (Vec<Delta>, Result<Value, LlmError>) {
    let mut assembler = Messages.assembler();
    let mut shown = Vec::new();
    for event in events {
        match assembler.event(event["type"].as_str(), &event.to_string()) {
            Ok(delta) => shown.extend(delta),
            Err(error) => return (shown, Err(error)),
        }
    }
    (shown, assembler.finish())
}

fn events() -> Vec<Value> {
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    vec![
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 25, "cache_read_input_tokens": 7, "output_tokens": 1},
        }}),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me"})),
        delta(0, json!({"type": "thinking_delta", "thinking": " see."})),
        delta(0, json!({"type": "signature_delta", "signature": "EqQB"})),
        json!({"type": "content_block_stop", "index": 0}),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Hel"})),
        delta(1, json!({"type": "text_delta", "text": "lo"})),
        json!({"type": "content_block_stop", "index": 1}),
        start(
            2,
            json!({"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}),
        ),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            2,
            json!({"type": "input_json_delta", "partial_json": "{\"city\": \"B"}),
        ),
        delta(
            2,
            json!({"type": "input_json_delta", "partial_json": "ern\"}"}),
        ),
        json!({"type": "content_block_stop", "index": 2}),
        start(
            3,
            json!({"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}),
        ),
        json!({"type": "content_block_stop", "index": 3}),
        json!({"type": "something_new", "index": 9}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
               "usage": {"input_tokens": null, "output_tokens": 15}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn a_stream_becomes_the_body_that_would_have_come() {
    let (shown, body) = play(&events());
    let body = body.unwrap();
    let expected = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "EqQB"},
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}},
            {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 25, "cache_read_input_tokens": 7, "output_tokens": 15},
    });
    assert_eq!(body, expected);
    let text = |text: &str| Delta::Text(text.to_owned());
    let thought = |text: &str| Delta::Reasoning(text.to_owned());
    assert_eq!(
        shown,
        [thought("Let me"), thought(" see."), text("Hel"), text("lo")]
    );
    assert_eq!(decode(body).unwrap().usage.input_tokens, 32);
}

#[test]
fn a_cut_stream_is_no_answer_wherever_it_is_cut() {
    let events = events();
    for end in 0..events.len() {
        let error = play(&events[..end]).1.unwrap_err();
        assert_eq!(error.fault, ModelFault::Network, "cut after {end}");
    }
}

#[test]
fn errors_come_in_the_middle() {
    let mut events = events();
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    events.insert(9, error);
    let (shown, body) = play(&events);
    assert_eq!(body.unwrap_err().fault, ModelFault::Overload);
    assert_eq!(shown.len(), 3);
    let mut assembler = Messages.assembler();
    let error = assembler
        .event(Some("message_start"), "<html>")
        .unwrap_err();
    assert_eq!(error.fault, ModelFault::BrokenResponse);
}

#[test]
fn an_input_that_was_cut_off_is_kept_as_text() {
    let mut events = events();
    events.remove(14);
    let body = play(&events).1.unwrap();
    assert_eq!(body["content"][2]["input"], "{\"city\": \"B");
}
