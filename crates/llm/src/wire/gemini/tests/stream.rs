//! Streams, whole and cut.

use agon_core::ModelFault;
use serde_json::{Value, json};

use crate::LlmError;
use crate::client::Delta;
use crate::wire::contract::Adapter;
use crate::wire::gemini::Gemini;

fn play(events: &[Value]) -> (Vec<Delta>, Result<Value, LlmError>) {
    let mut assembler = Gemini.assembler();
    let mut shown = Vec::new();
    for event in events {
        match assembler.event(None, &event.to_string()) {
            Ok(delta) => shown.extend(delta),
            Err(error) => return (shown, Err(error)),
        }
    }
    (shown, assembler.finish())
}

fn events() -> Vec<Value> {
    let event = |parts: Value, tokens: u64| {
        json!({
            "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": tokens},
            "modelVersion": "gemini-3.5-flash", "responseId": "r1",
        })
    };
    let mut last = event(json!([{"text": "", "thoughtSignature": "c2ln"}]), 7);
    last["candidates"][0]["finishReason"] = "STOP".into();
    vec![
        event(json!([{"text": "Let me", "thought": true}]), 0),
        event(json!([{"text": " see.", "thought": true}]), 0),
        event(json!([{"text": "Hel"}]), 1),
        event(json!([{"text": "lo"}]), 2),
        event(
            json!([{"functionCall": {"name": "weather", "args": {}}}]),
            5,
        ),
        event(json!([{"text": "Done"}]), 6),
        last,
    ]
}

#[test]
fn a_stream_becomes_the_body_that_would_have_come() {
    let (shown, body) = play(&events());
    let expected = json!({
        "candidates": [{
            "content": {"role": "model", "parts": [
                {"text": "Let me see.", "thought": true},
                {"text": "Hello"},
                {"functionCall": {"name": "weather", "args": {}}},
                {"text": "Done", "thoughtSignature": "c2ln"},
            ]},
            "index": 0,
            "finishReason": "STOP",
        }],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 7},
        "modelVersion": "gemini-3.5-flash", "responseId": "r1",
    });
    assert_eq!(body.unwrap(), expected);
    let text = |text: &str| Delta::Text(text.to_owned());
    let thought = |text: &str| Delta::Reasoning(text.to_owned());
    assert_eq!(
        shown,
        [
            thought("Let me"),
            thought(" see."),
            text("Hel"),
            text("lo"),
            text("Done")
        ]
    );
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
fn a_blocked_prompt_ends_the_stream() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    assert_eq!(play(std::slice::from_ref(&blocked)).1.unwrap(), blocked);
}

#[test]
fn errors_come_in_the_middle() {
    let mut events = events();
    let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    events.insert(3, error);
    assert_eq!(play(&events).1.unwrap_err().fault, ModelFault::Overload);
    let error = Gemini.assembler().event(None, "nothing").unwrap_err();
    assert_eq!(error.fault, ModelFault::BrokenResponse);
}
