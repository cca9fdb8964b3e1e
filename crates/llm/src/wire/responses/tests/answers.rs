//! Answers as the service gives them.

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use crate::error::LlmError;
use crate::message::{Message, Part, Role};
use crate::reply::{Reply, Stop};
use crate::request::Request;
use crate::spec::{Provider, Wire};
use crate::wire::contract::{Adapter, Encoding};
use crate::wire::responses::Responses;
use crate::wire::sample::{image, result, spec};

fn decode(body: Value) -> Result<Reply, LlmError> {
    Responses.decode(&spec(Provider::OpenAi, "gpt-5.4"), body)
}

pub(super) fn answer(output: Value) -> Value {
    json!({
        "id": "resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41", "object": "response",
        "created_at": 1_741_476_777, "status": "completed", "error": null, "incomplete_details": null,
        "instructions": null, "max_output_tokens": null, "model": "gpt-5.4-2026-03-05",
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 328, "input_tokens_details": {"cached_tokens": 128},
            "output_tokens": 52, "output_tokens_details": {"reasoning_tokens": 40}, "total_tokens": 380,
        },
        "user": null, "metadata": {},
    })
}

pub(super) fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

#[test]
fn text_thoughts_and_usage() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA",
        "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Second."}]});
    let reply = decode(answer(json!([reasoning, message("Hello!")]))).unwrap();
    let Some(Part::Reasoning(thought)) = reply.parts.first() else {
        panic!("{:?}", reply.parts);
    };
    assert_eq!(thought.text, "First.\n\nSecond.");
    assert_eq!(thought.raw, Some((Wire::Responses, reasoning)));
    assert_eq!((reply.text().as_str(), &reply.stop), ("Hello!", &Stop::End));
    assert_eq!(
        reply.usage,
        Usage {
            input_tokens: 328,
            output_tokens: 52,
            cached_tokens: 128,
            reasoning_tokens: 40,
            calls: 1,
            ..Usage::default()
        }
    );
}

#[test]
fn calls_of_all_kinds() {
    let output = json!([
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather",
         "arguments": "{\"city\":\"Bern\"}", "status": "completed"},
        {"type": "computer_call", "id": "cu_1", "call_id": "call_2", "status": "completed",
         "action": {"type": "click", "button": "left", "x": 156, "y": 50}, "pending_safety_checks": []},
        {"type": "computer_call", "id": "cu_2", "call_id": "call_3", "status": "completed",
         "actions": [{"type": "click", "button": "left", "x": 1, "y": 2}, {"type": "type", "text": "hi"}]},
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_4", "name": "sql", "input": "SELECT 1"},
    ]);
    let reply = decode(answer(output.clone())).unwrap();
    assert_eq!(reply.stop, Stop::ToolCalls);
    let calls: Vec<_> = reply.tool_calls().collect();
    let shape = |nth: usize| {
        (
            calls[nth].id.as_str(),
            calls[nth].name.as_str(),
            &calls[nth].input,
        )
    };
    assert_eq!(shape(0), ("call_1", "weather", &json!({"city": "Bern"})));
    let click = json!({"type": "click", "button": "left", "x": 156, "y": 50});
    assert_eq!(shape(1), ("call_2", "computer", &click));
    assert_eq!(shape(2).2.pointer("/actions/1/text"), Some(&json!("hi")));
    assert_eq!(shape(3), ("call_4", "sql", &json!("SELECT 1")));
    assert!(calls[0].raw.is_none());
    assert_eq!(calls[1].raw, Some((Wire::Responses, output[1].clone())));
}

#[test]
fn items_that_are_not_known_go_back_as_they_came() {
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
        {"type": "holo_call", "id": "h_1", "anything": [1, {"a": null}]},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "phase": "final_answer",
         "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
        {"type": "computer_call", "id": "cu_1", "call_id": "c", "status": "completed",
         "actions": [{"type": "wait"}], "pending_safety_checks": []},
    ]);
    let reply = decode(answer(output.clone())).unwrap();
    let request = Request::new([
        Message::new(Role::Assistant, reply.parts),
        Message::new(Role::User, [result("c", [image()])]),
    ]);
    let spec = spec(Provider::OpenAi, "gpt-5.4");
    let body = Responses
        .encode(&spec, &request, Encoding::default())
        .unwrap()
        .body;
    let input = body.get("input").and_then(Value::as_array).unwrap();
    assert_eq!(
        (&input[0], &input[1], &input[3]),
        (&output[0], &output[1], &output[3])
    );
    assert_eq!(
        input[2],
        json!({"type": "message", "role": "assistant", "phase": "final_answer",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}]})
    );
    assert_eq!(input[4].get("type"), Some(&json!("computer_call_output")));
}

#[test]
fn cut_answers() {
    let mut body = answer(json!([message("Once upon")]));
    body["status"] = json!("incomplete");
    body["incomplete_details"] = json!({"reason": "max_output_tokens"});
    assert_eq!(decode(body.clone()).unwrap().stop, Stop::MaxTokens);
    body["output"] = json!([]);
    assert_eq!(decode(body.clone()).unwrap().stop, Stop::MaxTokens);
    body["incomplete_details"] = json!({"reason": "content_filter"});
    assert_eq!(decode(body).unwrap_err().fault, ModelFault::Refusal);
}

#[test]
fn a_model_may_have_nothing_to_say() {
    for output in [json!([]), json!([{"type": "reasoning"}])] {
        let reply = decode(answer(output)).unwrap();
        assert_eq!((reply.text().as_str(), reply.stop), ("", Stop::End));
    }
}

#[test]
fn what_is_no_answer() {
    let refusal =
        json!([{"type": "message", "content": [{"type": "refusal", "refusal": "I'm sorry."}]}]);
    let mut failed = answer(json!([]));
    failed["status"] = json!("failed");
    failed["error"] =
        json!({"code": "server_error", "message": "The model failed to generate a response."});
    let mut limited = failed.clone();
    limited["error"] = json!({"code": "rate_limit_exceeded", "message": "slow"});
    let mut queued = answer(json!([]));
    queued["status"] = json!("queued");
    let cases = [
        (answer(refusal), ModelFault::Refusal, "I'm sorry"),
        (failed, ModelFault::Overload, "failed to generate"),
        (limited, ModelFault::RateLimit, "slow"),
        (queued, ModelFault::BrokenResponse, "queued"),
        (json!({"output": []}), ModelFault::BrokenResponse, "neither"),
        (
            json!({"output": [{"type": "reasoning"}]}),
            ModelFault::BrokenResponse,
            "neither",
        ),
        (
            answer(json!([{"type": "function_call"}])),
            ModelFault::BrokenResponse,
            "no name",
        ),
        (
            answer(json!([{"type": "computer_call"}])),
            ModelFault::BrokenResponse,
            "no action",
        ),
        (
            json!({"choices": []}),
            ModelFault::BrokenResponse,
            "`output`",
        ),
        (json!(1), ModelFault::BrokenResponse, "`output`"),
    ];
    for (body, fault, words) in cases {
        let error = decode(body.clone()).unwrap_err();
        assert_eq!(error.fault, fault, "{body}");
        assert!(error.message().contains(words), "{error}");
    }
}
