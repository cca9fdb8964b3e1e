//! Answers and errors as the documentation shows them.

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use crate::LlmError;
use crate::message::{Part, Reasoning, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::{Provider, Wire};
use crate::wire::contract::Adapter;
use crate::wire::messages::Messages;
use crate::wire::sample::spec;

pub(super) fn decode(body: Value) -> Result<Reply, LlmError> {
    Messages.decode(&spec(Provider::Anthropic, "claude-sonnet-4-5"), body)
}

pub(super) fn message(content: Value, stop: &str) -> Value {
    json!({
        "id": "msg_013Zva2CMHLNnjNjJJKqJ2EF",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": 10, "output_tokens": 25,
            "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000,
            "service_tier": "standard",
        },
    })
}

#[test]
fn text_thoughts_and_calls() {
    let content = json!([
        {"type": "thinking", "thinking": "Let me see.", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
    ]);
    let body = message(content.clone(), "tool_use");
    let reply = decode(body.clone()).unwrap();
    let raw = |nth: usize| Some((Wire::Messages, content[nth].clone()));
    assert_eq!(
        reply.parts,
        [
            Part::Reasoning(Reasoning {
                text: "Let me see.".to_owned(),
                raw: raw(0)
            }),
            Part::Reasoning(Reasoning {
                text: String::new(),
                raw: raw(1)
            }),
            Part::Text("I look.".to_owned()),
            Part::ToolCall(ToolCall {
                id: "toolu_1".to_owned(),
                name: "weather".to_owned(),
                input: json!({"city": "Bern"}),
                raw: raw(3),
            }),
            Part::Other {
                wire: Wire::Messages,
                value: content[4].clone()
            },
        ]
    );
    assert_eq!(reply.stop, Stop::ToolCalls);
    assert_eq!(reply.model, "claude-sonnet-4-5-20250929");
    assert_eq!(reply.raw, body);
    let usage = Usage {
        input_tokens: 1_110,
        output_tokens: 25,
        cached_tokens: 1_000,
        cache_write_tokens: 100,
        calls: 1,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
}

#[test]
fn members_of_a_toolset_are_calls_of_the_screen() {
    let block = json!({
        "type": "tool_use", "id": "toolu_1", "name": "left_click", "toolset_name": "computer",
        "input": {"coordinate": [3, 4]},
    });
    let reply = decode(message(json!([block]), "tool_use")).unwrap();
    let call = reply.tool_calls().next().unwrap();
    assert_eq!(call.name, "computer");
    assert_eq!(
        call.input,
        json!({"action": "left_click", "coordinate": [3, 4]})
    );
    assert_eq!(call.raw, Some((Wire::Messages, block)));
}

#[test]
fn json_by_tool_is_text() {
    let block =
        json!({"type": "tool_use", "id": "t", "name": "give_json_answer", "input": {"score": 1}});
    let reply = decode(message(json!([block]), "tool_use")).unwrap();
    assert_eq!(
        (reply.text().as_str(), reply.stop),
        (r#"{"score":1}"#, Stop::End)
    );
}

#[test]
fn every_end_is_told_apart() {
    let said = || json!([{"type": "text", "text": "a"}]);
    for (reason, stop) in [
        ("end_turn", Stop::End),
        ("max_tokens", Stop::MaxTokens),
        ("model_context_window_exceeded", Stop::MaxTokens),
        ("stop_sequence", Stop::StopWord),
        ("pause_turn", Stop::Other("pause_turn".to_owned())),
    ] {
        assert_eq!(decode(message(said(), reason)).unwrap().stop, stop);
    }
    let mut refused = message(json!([]), "refusal");
    refused["stop_details"] =
        json!({"type": "refusal", "category": "cyber", "explanation": "No malware."});
    let error = decode(refused).unwrap_err();
    assert_eq!(error.fault, ModelFault::Refusal);
    assert!(error.message().contains("No malware."), "{error}");
}

#[test]
fn what_is_no_answer_is_broken() {
    for body in [
        json!(null),
        json!([]),
        json!("text"),
        json!({}),
        json!({"content": "text"}),
        json!({"content": []}),
    ] {
        let error = decode(body.clone()).unwrap_err();
        assert_eq!(error.fault, ModelFault::BrokenResponse, "{body}");
    }
}

#[test]
fn a_model_may_have_nothing_to_say() {
    for body in [
        message(json!([]), "end_turn"),
        message(json!([{"type": "text", "text": ""}]), "end_turn"),
    ] {
        let reply = decode(body).unwrap();
        assert_eq!((reply.text().as_str(), reply.stop), ("", Stop::End));
    }
}

#[test]
fn errors_are_told_apart() {
    let error = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
    let cases = [
        (
            400,
            "invalid_request_error",
            "max_tokens: Field required",
            ModelFault::BadRequest,
        ),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
            ModelFault::ContextOverflow,
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
            ModelFault::ContextOverflow,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            ModelFault::RateLimit,
        ),
        (
            400,
            "invalid_request_error",
            "Output blocked by content filtering policy",
            ModelFault::Refusal,
        ),
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            ModelFault::Authentication,
        ),
        (
            402,
            "billing_error",
            "Payment is overdue.",
            ModelFault::RateLimit,
        ),
        (
            403,
            "permission_error",
            "Your API key may not do that.",
            ModelFault::Authentication,
        ),
        (404, "not_found_error", "model: claude-9", ModelFault::Setup),
        (
            404,
            "not_found_error",
            "File not found: file_1",
            ModelFault::BadRequest,
        ),
        (
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            ModelFault::ContextOverflow,
        ),
        (
            429,
            "rate_limit_error",
            "This request would exceed your rate limit.",
            ModelFault::RateLimit,
        ),
        (
            500,
            "api_error",
            "Internal server error",
            ModelFault::Overload,
        ),
        (
            504,
            "timeout_error",
            "Request timed out",
            ModelFault::Timeout,
        ),
        (529, "overloaded_error", "Overloaded", ModelFault::Overload),
        (418, "new_error", "What?", ModelFault::BadRequest),
    ];
    for (status, kind, message, fault) in cases {
        let body = error(kind, message);
        let found = Messages.fault(status, body.to_string().as_bytes());
        assert_eq!(found.fault, fault, "{status} {kind} {message}");
        assert!(found.message().contains(message), "{found}");
        // The same inside of an answer with status 200.
        if kind != "new_error" {
            assert_eq!(decode(body).unwrap_err().fault, fault, "{kind} {message}");
        }
    }
    let overdue = Messages.fault(400, error("billing_error", "a").to_string().as_bytes());
    assert_eq!(overdue.status, Some(402));
    for (status, body, fault) in [
        (502, "<html>Bad Gateway</html>", ModelFault::Overload),
        (401, "", ModelFault::Authentication),
        (302, "{}", ModelFault::BrokenResponse),
        (529, "null", ModelFault::Overload),
        (413, "[1]", ModelFault::ContextOverflow),
    ] {
        assert_eq!(
            Messages.fault(status, body.as_bytes()).fault,
            fault,
            "{status} {body}"
        );
    }
}
