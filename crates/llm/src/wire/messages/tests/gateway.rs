//! Bodies of clients, and answers to them.

use agon_core::{ModelFault, Usage};
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use super::decode::message;
use super::encode::spec;
use super::stream::play;
use crate::LlmError;
use crate::message::{Message, Part, Role, ToolCall};
use crate::reply::{Reply, Stop};
use crate::request::{Output, Tool, ToolChoice};
use crate::spec::Wire;
use crate::wire::contract::{Adapter, Encoding, Served};
use crate::wire::messages::Messages;
use crate::wire::sample::{call, image, text};

fn reply() -> Reply {
    Reply {
        parts: vec![
            text("I look."),
            Part::ToolCall(ToolCall {
                id: "call_1".to_owned(),
                name: "weather".to_owned(),
                input: json!({"city": "Bern"}),
                raw: Some((Wire::Chat, json!({"index": 0}))),
            }),
        ],
        stop: Stop::ToolCalls,
        usage: Usage {
            input_tokens: 30,
            cached_tokens: 10,
            output_tokens: 5,
            ..Usage::default()
        },
        model: "gpt-4o".to_owned(),
        raw: json!({"object": "chat.completion"}),
    }
}

#[test]
fn bodies_of_clients_are_read() {
    let body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 100, "temperature": 0.5, "top_k": 3,
        "stop_sequences": ["END"], "stream": true,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "tool_choice": {"type": "tool", "name": "weather"},
        "tools": [
            {"name": "weather", "description": "W.", "input_schema": {"type": "object"}},
            {"type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600},
            {"type": "bash_20250124", "name": "bash"},
        ],
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [
                    {"type": "text", "text": "sunny"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
                ]},
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"},
                 "cache_control": {"type": "ephemeral"}},
            ]},
            {"role": "system", "content": "Be quick."},
        ],
    });
    let request = Messages.read_request(body.clone()).unwrap();
    assert_eq!(
        request.system.as_deref(),
        Some("Be brief.\n\nBe kind.\n\nBe quick.")
    );
    assert_eq!(request.messages.len(), 3);
    assert_eq!(request.messages[0], Message::user("Hello"));
    let Part::ToolResult(result) = &request.messages[2].parts[0] else {
        panic!("no result");
    };
    assert_eq!((result.name.as_str(), result.is_error), ("weather", true));
    assert_eq!(result.parts, [text("sunny"), image()]);
    assert!(matches!(
        request.messages[2].parts[1],
        Part::Other {
            wire: Wire::Messages,
            ..
        }
    ));
    assert!(request.messages[2].cache && request.messages[2].role == Role::User);
    assert!(matches!(&request.tools[0], Tool::Function { name, .. } if name == "weather"));
    assert_eq!(
        request.tools[1],
        Tool::Computer {
            width: 800,
            height: 600
        }
    );
    assert!(matches!(
        &request.tools[2],
        Tool::Own {
            wire: Wire::Messages,
            ..
        }
    ));
    assert_eq!(request.tool_choice, ToolChoice::Named("weather".to_owned()));
    assert!(matches!(request.output, Output::Json { .. }));
    assert_eq!(request.sampling.reasoning_effort.as_deref(), Some("medium"));
    assert_eq!(request.sampling.max_tokens, Some(100));
    assert_eq!(request.sampling.stop, ["END"]);
    assert_eq!(request.raw, Some((Wire::Messages, body)));
    for bad in [
        json!(null),
        json!({"max_tokens": 1}),
        json!({"messages": []}),
    ] {
        let error = Messages.read_request(bad).unwrap_err();
        assert_eq!(error.fault, ModelFault::BadRequest);
    }
}

#[test]
fn answers_are_written_whole_and_as_a_stream() {
    let whole = Messages.write_reply("agent-model", &reply());
    assert_json_snapshot!("messages-reply", whole);
    let events: Vec<Value> = Messages
        .write_stream("agent-model", &reply())
        .into_iter()
        .map(|(name, data)| {
            let event: Value = serde_json::from_str(&data).unwrap();
            assert_eq!(name.as_deref(), event["type"].as_str());
            event
        })
        .collect();
    assert_eq!(play(&events).1.unwrap(), whole);
}

#[test]
fn an_answer_of_the_same_form_is_handed_on_as_it_came() {
    let mut body = message(
        json!([{"type": "text", "text": "a"}, {"type": "new", "x": 1}]),
        "end_turn",
    );
    let spec = spec("claude-sonnet-4-5");
    let mut reply = Messages.decode(&spec, body.clone()).unwrap();
    body["model"] = "other".into();
    assert_eq!(Messages.write_reply("other", &reply), body);
    // Calls that a model wrote into its text are no text for the client.
    reply.parts = vec![call("call_1")];
    let written = Messages.write_reply("other", &reply);
    assert_eq!(written["content"][0]["type"], "tool_use", "{written}");
}

#[test]
fn what_the_configuration_says_holds_for_a_clients_own_body() {
    let encoded = |model: &str, mut body: Value| {
        let mut spec = spec(model);
        spec.settings.temperature = Some(0.0);
        spec.settings.top_k = Some(7);
        spec.settings.max_output_tokens = Some(100);
        body["messages"] = json!([]);
        let mut request = Messages.read_request(body).unwrap();
        request.sampling.reasoning_effort = Some("low".to_owned());
        request.betas = ["computer-use-2025-01-24", "effort-2025-11-24"]
            .map(str::to_owned)
            .into();
        Messages
            .encode(&spec, &request, Encoding::default())
            .unwrap()
    };
    let body = encoded("claude-sonnet-4-5", json!({"max_tokens": 4096})).body;
    assert_eq!(
        (&body["temperature"], &body["top_k"], &body["max_tokens"]),
        (&json!(0.0), &json!(7), &json!(100))
    );
    assert!(body.get("thinking").is_none(), "{body}");
    let body = encoded(
        "claude-sonnet-4-5",
        json!({"max_tokens": 9, "temperature": 1, "top_k": 3}),
    )
    .body;
    assert_eq!(
        body,
        json!({"model": "claude-sonnet-4-5", "messages": [], "max_tokens": 9, "temperature": 1,
        "top_k": 3})
    );
    // What does not go together is not put together.
    let thinks = json!({"max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 1024}});
    let body = encoded("claude-sonnet-4-5", thinks).body;
    assert!(body.get("temperature").is_none(), "{body}");
    let body = encoded("claude-sonnet-4-5", json!({"max_tokens": 9, "top_p": 0.5})).body;
    assert!(body.get("temperature").is_none(), "{body}");
    let call = encoded(
        "claude-opus-5",
        json!({"max_tokens": 9,
        "tools": [{"type": "computer_20250124", "name": "computer"}]}),
    );
    assert!(call.body.get("temperature").is_none(), "{}", call.body);
    assert_eq!(call.body["output_config"]["effort"], "low");
    assert_eq!(call.body["thinking"]["type"], "adaptive");
    let betas = call
        .headers
        .iter()
        .find(|(name, _)| *name == "anthropic-beta");
    assert_eq!(
        betas.unwrap().1,
        "computer-use-2025-01-24,effort-2025-11-24"
    );
}

#[test]
fn errors_have_the_names_of_this_api() {
    for (fault, kind) in [
        (ModelFault::Authentication, "authentication_error"),
        (ModelFault::RateLimit, "rate_limit_error"),
        (ModelFault::ContextOverflow, "invalid_request_error"),
        (ModelFault::Overload, "overloaded_error"),
        (ModelFault::BrokenResponse, "api_error"),
    ] {
        let body = Messages.write_error(&LlmError::new(fault, "why"));
        assert_eq!(body["type"], "error");
        assert_eq!(body["error"]["type"], kind);
        assert!(body["error"]["message"].as_str().unwrap().contains("why"));
    }
}
