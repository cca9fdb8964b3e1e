//! Answers as services give them.

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use crate::error::LlmError;
use crate::message::Part;
use crate::reply::{Reply, Stop};
use crate::spec::{Provider, Wire};
use crate::wire::chat::Chat;
use crate::wire::contract::Adapter;
use crate::wire::sample::spec;

fn decode(body: Value) -> Result<Reply, LlmError> {
    Chat.decode(&spec(Provider::OpenAi, "gpt-4o"), body)
}

fn answer(message: Value, reason: &str) -> Value {
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 256, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_b5d11342c4",
    })
}

#[test]
fn text_and_usage() {
    let body = answer(
        json!({"role": "assistant", "content": "Hello!", "refusal": null, "annotations": []}),
        "stop",
    );
    let reply = decode(body.clone()).unwrap();
    assert_eq!(reply.parts, [Part::Text("Hello!".to_owned())]);
    assert_eq!(
        (reply.stop, reply.model.as_str()),
        (Stop::End, "gpt-4o-2024-08-06")
    );
    assert_eq!(reply.raw, body);
    assert_eq!(
        reply.usage,
        Usage {
            input_tokens: 2006,
            output_tokens: 300,
            cached_tokens: 1920,
            reasoning_tokens: 256,
            calls: 1,
            ..Usage::default()
        }
    );
}

#[test]
fn tool_calls() {
    let body = answer(
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Bern\"}"}},
            {"id": "", "type": "function", "function": {"name": "now", "arguments": ""}},
            {"id": "call_3", "type": "function", "function": {"name": "f", "arguments": "{\"a\":"},
             "extra_content": {"google": {"thought_signature": "abc"}}},
        ]}),
        "tool_calls",
    );
    let reply = decode(body).unwrap();
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
    // The second had no id: it is named by its place.
    assert_eq!(shape(1), ("call_at_1", "now", &json!({})));
    assert_eq!(shape(2), ("call_3", "f", &json!("{\"a\":")));
    assert_eq!((&calls[0].raw, calls[2].raw.is_some()), (&None, true));
}

#[test]
fn thoughts_of_other_services() {
    for key in ["reasoning_content", "reasoning"] {
        let mut message = json!({"role": "assistant", "content": "4"});
        message[key] = json!("2 and 2");
        let reply = decode(answer(message, "stop")).unwrap();
        let Some(Part::Reasoning(thought)) = reply.parts.first() else {
            panic!("{:?}", reply.parts);
        };
        assert_eq!(thought.text, "2 and 2");
        let mut raw = json!({});
        raw[key] = json!("2 and 2");
        assert_eq!(thought.raw, Some((Wire::Chat, raw)));
        assert_eq!(reply.text(), "4");
    }
}

#[test]
fn content_in_parts_keeps_what_is_not_known() {
    let part = json!({"type": "thinking", "thinking": []});
    let content = json!([part, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let reply = decode(answer(
        json!({"role": "assistant", "content": content}),
        "stop",
    ))
    .unwrap();
    assert_eq!(reply.text(), "ab");
    let wire = Wire::Chat;
    assert_eq!(reply.parts[0], Part::Other { wire, value: part });
}

#[test]
fn ends() {
    let stop = |reason: &str| {
        decode(answer(json!({"content": "x"}), reason))
            .unwrap()
            .stop
    };
    assert_eq!(stop("length"), Stop::MaxTokens);
    assert_eq!(stop("stop"), Stop::End);
    assert_eq!(stop("eos"), Stop::Other("eos".to_owned()));
    let mut body = answer(json!({"content": "x"}), "stop");
    body["choices"][0]["stop_reason"] = json!("END");
    assert_eq!(decode(body).unwrap().stop, Stop::StopWord);
}

#[test]
fn thoughts_beside_the_output_are_counted_once_and_in() {
    let mut body = answer(json!({"content": "x"}), "stop");
    body["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
        "completion_tokens_details": {"reasoning_tokens": 100}});
    let usage = decode(body).unwrap().usage;
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (105, 100));
}

#[test]
fn counts_can_not_contradict_each_other() {
    let mut body = answer(json!({"content": "x"}), "stop");
    body["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5.0, "prompt_cache_hit_tokens": 99,
        "completion_tokens_details": {"reasoning_tokens": 1e30}});
    let usage = decode(body).unwrap().usage;
    assert_eq!(
        (
            usage.cached_tokens,
            usage.output_tokens,
            usage.reasoning_tokens
        ),
        (10, 5, 5)
    );
}

#[test]
fn a_model_may_have_nothing_to_say() {
    for message in [
        json!({"content": ""}),
        json!({"content": null, "reasoning": "hm"}),
    ] {
        let reply = decode(answer(message, "stop")).unwrap();
        assert_eq!((reply.text().as_str(), reply.stop), ("", Stop::End));
    }
}

#[test]
fn what_is_no_answer() {
    let refusal =
        json!({"role": "assistant", "content": null, "refusal": "I can't help with that."});
    let cases = [
        (answer(refusal, "stop"), ModelFault::Refusal, "I can't help"),
        (
            answer(json!({"content": ""}), "content_filter"),
            ModelFault::Refusal,
            "content filter",
        ),
        (
            json!({"choices": [{"message": {"content": ""}}]}),
            ModelFault::BrokenResponse,
            "neither text",
        ),
        (
            answer(json!({"content": ""}), "error"),
            ModelFault::BrokenResponse,
            "neither text",
        ),
        (
            answer(json!({"tool_calls": [{"id": "a"}]}), "stop"),
            ModelFault::BrokenResponse,
            "no name",
        ),
        (
            json!({"choices": []}),
            ModelFault::BrokenResponse,
            "`choices`",
        ),
        (
            json!({"choices": [{"text": "old form"}]}),
            ModelFault::BrokenResponse,
            "`message`",
        ),
        (json!("<html>"), ModelFault::BrokenResponse, "`choices`"),
        (json!(null), ModelFault::BrokenResponse, "`choices`"),
        (
            json!({"error": {"code": 502, "message": "Provider returned error"}, "user_id": "x"}),
            ModelFault::Overload,
            "Provider returned error",
        ),
        (
            json!({"choices": [{"error": {"code": 429, "message": "slow"}, "message": {"content": "ha"}}]}),
            ModelFault::RateLimit,
            "slow",
        ),
    ];
    for (body, fault, words) in cases {
        let error = decode(body.clone()).unwrap_err();
        assert_eq!(error.fault, fault, "{body}");
        assert!(error.message().contains(words), "{error}");
    }
}

#[test]
fn an_answer_may_be_empty_if_it_was_cut_or_the_model_is_small() {
    let empty = || answer(json!({"role": "assistant", "content": ""}), "length");
    assert_eq!(decode(empty()).unwrap().stop, Stop::MaxTokens);
    let body = answer(json!({"role": "assistant", "content": ""}), "stop");
    let reply = Chat.decode(&spec(Provider::Local, "m.gguf"), body).unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("", Stop::End));
}
