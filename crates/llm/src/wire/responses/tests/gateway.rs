//! The gateway's side: requests that are read and answers that are written.

use agon_core::{ModelFault, Usage};
use serde_json::{Value, json};

use crate::message::{Message, Role};
use crate::reply::{Reply, Stop};
use crate::request::{Output, Tool, ToolChoice};
use crate::spec::{Provider, Wire};
use crate::wire::contract::{Adapter, Encoding, Served};
use crate::wire::responses::Responses;
use crate::wire::sample::{call, image, result, spec, text, thought, tool_talk};

#[test]
fn a_request_is_read_as_it_was_meant() {
    let body = json!({
        "model": "agon", "instructions": "Be brief.",
        "input": [
            {"role": "developer", "content": "Very."},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "Look"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw==", "detail": "auto"},
            ]},
            {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{\"city\":\"Bern\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "sunny"}]},
        ],
        "tools": [{"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": true},
                  {"type": "web_search"}],
        "tool_choice": {"type": "function", "name": "weather"},
        "text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}},
        "temperature": 0.2, "max_output_tokens": 50, "reasoning": {"effort": "high"},
    });
    let request = Responses.read_request(body.clone()).unwrap();
    assert_eq!(request.system.as_deref(), Some("Be brief.\n\nVery."));
    assert_eq!(
        request.messages,
        [
            Message::new(Role::User, [text("Look"), image()]),
            Message::new(Role::Assistant, [call("call_1")]),
            Message::new(Role::User, [result("call_1", [text("sunny")])]),
        ]
    );
    assert_eq!(request.tool_choice, ToolChoice::Named("weather".to_owned()));
    assert!(matches!(
        &request.tools[..],
        [
            Tool::Function { strict: true, .. },
            Tool::Own {
                wire: Wire::Responses,
                ..
            }
        ]
    ));
    assert!(matches!(&request.output, Output::Json { name, .. } if name == "x"));
    assert_eq!(request.sampling.max_tokens, Some(50));
    assert_eq!(request.sampling.reasoning_effort.as_deref(), Some("high"));
    assert_eq!(request.raw, Some((Wire::Responses, body)));
}

#[test]
fn what_is_sent_is_read_back() {
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let sent = Responses
        .encode(&spec, &tool_talk(), Encoding::default())
        .unwrap()
        .body;
    let mut request = Responses.read_request(sent.clone()).unwrap();
    request.raw = None;
    let again = Responses
        .encode(&spec, &request, Encoding::default())
        .unwrap()
        .body;
    assert_eq!(again, sent);
}

#[test]
fn requests_that_can_not_be_served_say_why() {
    for (body, words) in [
        (json!("x"), "no object"),
        (json!({}), "`input`"),
        (
            json!({"input": "x", "previous_response_id": "resp_1"}),
            "whole conversation",
        ),
        (json!({"input": "x", "background": true}), "`background`"),
        (
            json!({"input": [{"type": "item_reference", "id": "a"}]}),
            "items themselves",
        ),
        (
            json!({"input": [{"role": "robot", "content": "x"}]}),
            "`robot`",
        ),
    ] {
        let error = Responses.read_request(body).unwrap_err();
        assert_eq!(error.fault, ModelFault::BadRequest);
        assert!(error.message().contains(words), "{error}");
    }
}

fn reply() -> Reply {
    Reply {
        parts: vec![thought(None), text("I look."), call("call_1")],
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
    insta::assert_json_snapshot!(Responses.write_reply("agon", &reply()));
}

#[test]
fn events_are_written_as_the_service_does() {
    let events: Vec<String> = Responses
        .write_stream("agon", &reply())
        .into_iter()
        .map(|(name, data)| format!("{}: {data}", name.unwrap_or_default()))
        .collect();
    insta::assert_json_snapshot!(events);
}

#[test]
fn answer_and_stream_are_read_as_the_same() {
    let written = Responses.write_reply("agon", &reply());
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let whole = Responses.decode(&spec, written.clone()).unwrap();
    let mut assembler = Responses.assembler();
    for (name, data) in Responses.write_stream("agon", &reply()) {
        assembler.event(name.as_deref(), &data).unwrap();
    }
    assert_eq!(assembler.finish().unwrap(), written);
    assert_eq!(
        (whole.text(), &whole.stop),
        (reply().text(), &Stop::ToolCalls)
    );
    assert_eq!(whole.usage, reply().usage);
    let cut = Reply {
        stop: Stop::MaxTokens,
        ..reply()
    };
    let cut = Responses
        .decode(&spec, Responses.write_reply("agon", &cut))
        .unwrap();
    assert_eq!(cut.stop, Stop::MaxTokens);
}

#[test]
fn an_answer_of_the_same_form_is_handed_on_as_it_came() {
    let part = |words: &str| {
        json!({"type": "output_text", "text": words, "logprobs": [{"token": words, "logprob": -1}],
            "annotations": [{"type": "url_citation", "url": "http://x"}]})
    };
    let body = json!({"id": "resp_7", "object": "response", "created_at": 7, "status": "completed",
        "model": "big-1", "error": null, "incomplete_details": null, "service_tier": "default",
        "output": [
            {"type": "reasoning", "id": "rs_7", "summary": [], "encrypted_content": "abc"},
            {"type": "message", "id": "msg_7", "status": "completed", "role": "assistant",
                "content": [part("x"), part("y")]},
            {"type": "function_call", "id": "fc_7", "call_id": "call_1", "name": "weather",
                "arguments": "{}", "status": "completed"}],
        "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}});
    let spec = spec(Provider::OpenAi, "big-1");
    let mut reply = Responses.decode(&spec, body.clone()).unwrap();
    let mut expected = body;
    expected["model"] = "agon".into();
    assert_eq!(Responses.write_reply("agon", &reply), expected);
    let events = Responses.write_stream("agon", &reply);
    let of = |kind: &str| -> Vec<Value> {
        let of_kind = events
            .iter()
            .filter(|(name, _)| name.as_deref() == Some(kind));
        of_kind
            .map(|(_, data)| serde_json::from_str(data).unwrap())
            .collect()
    };
    assert_eq!(of("response.completed")[0]["response"], expected);
    let deltas = of("response.output_text.delta");
    assert_eq!(
        (&deltas[1]["delta"], &deltas[1]["content_index"]),
        (&"y".into(), &1.into())
    );
    assert_eq!(deltas[0]["item_id"], "msg_7");
    assert_eq!(
        of("response.output_item.done")[0]["item"],
        expected["output"][0]
    );
    assert_eq!(of("response.created")[0]["response"]["usage"], Value::Null);
    // Calls that a model wrote into its text are no text for the client.
    reply.parts = vec![call("call_1")];
    let written = Responses.write_reply("agon", &reply);
    assert_eq!(written["output"].as_array().unwrap().len(), 1);
    assert_eq!(written["output"][0]["type"], "function_call");
}

#[test]
fn what_the_configuration_says_holds_for_a_clients_own_body() {
    let encoded = |more: Value| {
        let mut spec = spec(Provider::Compatible, "big-1");
        spec.settings.max_output_tokens = Some(100);
        let mut body = json!({"input": "x"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap());
        let mut request = Responses.read_request(body).unwrap();
        // As it is filled in for every request.
        let sampling = &mut request.sampling;
        sampling.temperature = sampling.temperature.or(Some(0.0));
        sampling.max_tokens = sampling.max_tokens.or(Some(100));
        sampling.reasoning_effort = sampling.reasoning_effort.take().or(Some("low".to_owned()));
        Responses
            .encode(&spec, &request, Encoding::default())
            .unwrap()
            .body
    };
    let body = encoded(json!({}));
    assert_eq!(
        (&body["temperature"], &body["max_output_tokens"]),
        (&json!(0.0), &json!(100))
    );
    assert_eq!(&body["reasoning"]["effort"], "low");
    let body = encoded(
        json!({"temperature": 1, "max_output_tokens": 4096, "reasoning": {"effort": "high"}}),
    );
    assert_eq!(
        (&body["temperature"], &body["max_output_tokens"]),
        (&json!(1), &json!(100))
    );
    assert_eq!(
        (&body["reasoning"]["effort"], body.get("reasoning_effort")),
        (&"high".into(), None)
    );
}
