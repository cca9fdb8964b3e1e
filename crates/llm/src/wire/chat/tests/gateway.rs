//! The gateway's side: requests that are read and answers that are written.

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use crate::message::{Message, Part, Role};
use crate::reply::{Reply, Stop};
use crate::request::{Output, Tool, ToolChoice};
use crate::spec::{Provider, Wire};
use crate::wire::chat::Chat;
use crate::wire::contract::{Adapter, Encoding, Served};
use crate::wire::sample::{call, image, result, spec, text, thought, tool_talk};

#[test]
fn a_request_is_read_as_it_was_meant() {
    let body = json!({
        "model": "agon",
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Bern\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
            {"role": "user", "content": "Well?"},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}, "strict": true}}],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
        "temperature": 0.2, "max_completion_tokens": 50, "stop": "END", "seed": 3, "reasoning_effort": "high",
        "stream": true,
    });
    let request = Chat.read_request(body.clone()).unwrap();
    assert_eq!(request.system.as_deref(), Some("Be brief."));
    let linked = Part::Other {
        wire: Wire::Chat,
        value: json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}),
    };
    assert_eq!(
        request.messages,
        [
            Message::new(Role::User, [text("Look"), image(), linked]),
            Message::new(Role::Assistant, [call("call_1")]),
            Message::new(
                Role::User,
                [result("call_1", [text("sunny")]), text("Well?")]
            ),
        ]
    );
    assert_eq!(request.tool_choice, ToolChoice::Named("weather".to_owned()));
    assert!(
        matches!(&request.tools[..], [Tool::Function { name, strict: true, .. }] if name == "weather")
    );
    assert!(matches!(&request.output, Output::Json { name, .. } if name == "x"));
    let sampling = &request.sampling;
    assert_eq!(
        (sampling.temperature, sampling.max_tokens),
        (Some(0.2), Some(50))
    );
    assert_eq!(
        (sampling.stop.as_slice(), sampling.seed),
        (&["END".to_owned()][..], Some(3))
    );
    assert_eq!(sampling.reasoning_effort.as_deref(), Some("high"));
    assert_eq!(request.raw, Some((Wire::Chat, body)));
}

#[test]
fn what_is_sent_is_read_back() {
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let sent = Chat
        .encode(&spec, &tool_talk(), Encoding::default())
        .unwrap()
        .body;
    let mut request = Chat.read_request(sent.clone()).unwrap();
    request.raw = None;
    let again = Chat
        .encode(&spec, &request, Encoding::default())
        .unwrap()
        .body;
    assert_eq!(again, sent);
}

#[test]
fn requests_that_can_not_be_served_say_why() {
    let user = json!([{"role": "user", "content": "x"}]);
    for (body, words) in [
        (json!([]), "no object"),
        (json!({}), "`messages`"),
        (json!({"messages": user, "n": 2}), "leave `n` out"),
        (
            json!({"messages": [{"role": "robot", "content": "x"}]}),
            "`robot`",
        ),
        (
            json!({"messages": [{"role": "assistant", "tool_calls": [{}]}]}),
            "no name",
        ),
    ] {
        let error = Chat.read_request(body).unwrap_err();
        assert_eq!(error.fault, ModelFault::BadRequest);
        assert!(error.message().contains(words), "{error}");
    }
}

fn reply() -> Reply {
    Reply {
        parts: vec![
            thought(None),
            text("I look."),
            call("call_1"),
            call("call_2"),
        ],
        stop: Stop::ToolCalls,
        usage: Usage {
            input_tokens: 10,
            output_tokens: 5,
            cached_tokens: 4,
            reasoning_tokens: 2,
            calls: 1,
            ..Usage::default()
        },
        model: "m".to_owned(),
        raw: Value::Null,
    }
}

#[test]
fn an_answer_is_written_as_the_service_does() {
    insta::assert_json_snapshot!(Chat.write_reply("agon", &reply()));
}

#[test]
fn what_a_service_signed_reaches_the_client() {
    let message = json!({"role": "assistant", "content": "x", "reasoning": "Hm",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "abc"}],
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "s"}}}]});
    let spec = spec(Provider::Compatible, "google/gemini-3");
    let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    let reply = Chat.decode(&spec, body).unwrap();
    let mut written = Chat.write_reply("agon", &reply);
    let written = written.pointer_mut("/choices/0/message").unwrap();
    written.as_object_mut().unwrap().remove("refusal");
    assert_eq!(*written, message);
    let mut assembler = Chat.assembler();
    for (name, data) in Chat.write_stream("agon", &reply) {
        assembler.event(name.as_deref(), &data).unwrap();
    }
    let streamed = assembler.finish().unwrap();
    assert_eq!(streamed.pointer("/choices/0/message"), Some(&message));
}

#[test]
fn an_answer_of_the_same_form_is_handed_on_as_it_came() {
    let logprobs = json!({"content": [{"token": "x", "logprob": -0.5, "top_logprobs": []}]});
    let body = json!({"id": "c", "object": "chat.completion", "created": 7, "model": "big-1",
        "system_fingerprint": "fp", "citations": ["http://x"],
        "choices": [{"index": 0, "finish_reason": "length", "logprobs": logprobs,
            "message": {"role": "assistant", "content": "x", "refusal": null,
                "annotations": [{"type": "url_citation"}]}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "cost": 0.1}});
    let spec = spec(Provider::Compatible, "big-1");
    let mut reply = Chat.decode(&spec, body.clone()).unwrap();
    let mut expected = body;
    expected["model"] = "agon".into();
    assert_eq!(Chat.write_reply("agon", &reply), expected);
    let events: Vec<Value> = Chat
        .write_stream("agon", &reply)
        .iter()
        .filter_map(|(_, data)| serde_json::from_str(data).ok())
        .collect();
    let some = |pointer: &str| {
        events
            .iter()
            .find_map(|event| event.pointer(pointer).filter(|v| !v.is_null()))
    };
    assert_eq!(some("/choices/0/logprobs"), Some(&logprobs));
    assert_eq!(
        some("/choices/0/delta/annotations/0/type"),
        Some(&"url_citation".into())
    );
    assert_eq!(some("/choices/0/finish_reason"), Some(&"length".into()));
    assert_eq!(some("/usage/cost"), Some(&json!(0.1)));
    assert!(
        events
            .iter()
            .all(|event| event["model"] == "agon" && event["system_fingerprint"] == "fp")
    );
    let mut assembler = Chat.assembler();
    for (name, data) in Chat.write_stream("agon", &reply) {
        assembler.event(name.as_deref(), &data).unwrap();
    }
    let streamed = assembler.finish().unwrap();
    for pointer in [
        "/choices/0/logprobs",
        "/choices/0/message/annotations",
        "/usage",
    ] {
        assert_eq!(
            streamed.pointer(pointer),
            expected.pointer(pointer),
            "{pointer}"
        );
    }
    // Calls that a model wrote into its text are no text for the client.
    reply.parts = vec![call("call_1")];
    let written = Chat.write_reply("agon", &reply);
    assert_eq!(written["choices"][0]["message"]["content"], Value::Null);
    assert_eq!(
        written["choices"][0]["message"]["tool_calls"][0]["id"],
        "call_1"
    );
}

#[test]
fn answer_and_stream_are_read_as_the_same() {
    let written = Chat.write_reply("agon", &reply());
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let whole = Chat.decode(&spec, written).unwrap();
    let events = Chat.write_stream("agon", &reply());
    assert_eq!(events.last(), Some(&(None, "[DONE]".to_owned())));
    let mut assembler = Chat.assembler();
    for (name, data) in events {
        assembler.event(name.as_deref(), &data).unwrap();
    }
    let streamed = Chat.decode(&spec, assembler.finish().unwrap()).unwrap();
    assert_eq!(
        (&streamed.parts, &streamed.stop),
        (&whole.parts, &whole.stop)
    );
    assert_eq!(streamed.usage, whole.usage);
    assert_eq!(
        (whole.text(), whole.stop),
        (reply().text(), Stop::ToolCalls)
    );
    assert_eq!(whole.usage, reply().usage);
}

#[test]
fn what_the_configuration_says_holds_for_a_clients_own_body() {
    let encoded = |more: Value| {
        let mut spec = spec(Provider::Compatible, "big-1");
        spec.settings.max_output_tokens = Some(100);
        let mut body = json!({"messages": [{"role": "user", "content": "x"}]});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap());
        let mut request = Chat.read_request(body).unwrap();
        // As it is filled in for every request.
        let sampling = &mut request.sampling;
        sampling.temperature = sampling.temperature.or(Some(0.0));
        sampling.max_tokens = sampling.max_tokens.or(Some(100));
        sampling.reasoning_effort = sampling.reasoning_effort.take().or(Some("low".to_owned()));
        Chat.encode(&spec, &request, Encoding::default())
            .unwrap()
            .body
    };
    let body = encoded(json!({}));
    assert_eq!(
        (&body["temperature"], &body["max_tokens"]),
        (&json!(0.0), &json!(100))
    );
    assert_eq!(&body["reasoning_effort"], "low");
    let body =
        encoded(json!({"temperature": 1, "max_tokens": 4096, "reasoning": {"effort": "high"}}));
    assert_eq!(
        (&body["temperature"], &body["max_tokens"]),
        (&json!(1), &json!(100))
    );
    assert_eq!(
        (&body["reasoning"]["effort"], body.get("reasoning_effort")),
        (&"high".into(), None)
    );

    let body = encoded(json!({"max_completion_tokens": 4096}));
    assert_eq!(
        (&body["max_completion_tokens"], body.get("max_tokens")),
        (&json!(100), None)
    );
}
