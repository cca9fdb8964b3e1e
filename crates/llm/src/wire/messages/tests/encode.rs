//! One golden file per feature.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::message::{Message, Part, Role, ToolCall, ToolResult};
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Provider, Wire};
use crate::wire::contract::{Adapter, Encoding, Served};
use crate::wire::messages::Messages;
use crate::wire::sample::{self, image, result, text, thought, tool_talk, weather};

pub(super) fn spec(model: &str) -> ModelSpec {
    let mut spec = sample::spec(Provider::Anthropic, model);
    spec.wire = Wire::Messages;
    spec.base_url = "https://api.anthropic.com/v1".to_owned();
    spec
}

fn sent(spec: &ModelSpec, request: &Request, how: Encoding) -> Value {
    let call = Messages.encode(spec, request, how).unwrap();
    assert_eq!(call.key_header, ("x-api-key", ""));
    json!({"url": call.url, "headers": call.headers, "body": call.body})
}

fn body(model: &str, request: &Request) -> Value {
    sent(&spec(model), request, Encoding::default())["body"].take()
}

fn screen() -> Request {
    Request {
        tools: vec![Tool::Computer {
            width: 1920,
            height: 1080,
        }],
        ..Request::user("Close the window.")
    }
}

fn answer() -> Output {
    Output::Json {
        name: "verdict".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
            "required": ["score"],
        }),
    }
}

#[test]
fn a_plain_question() {
    let request = Request {
        system: Some("Be brief.".to_owned()),
        ..Request::user("Hello")
    };
    let sent = sent(&spec("claude-sonnet-4-5"), &request, Encoding::default());
    assert_json_snapshot!("messages-plain", sent);
}

#[test]
fn streams_differ_by_one_key() {
    let whole = body("claude-opus-4-6", &tool_talk());
    let how = Encoding { stream: true };
    let mut streamed = sent(&spec("claude-opus-4-6"), &tool_talk(), how)["body"].take();
    assert_eq!(
        streamed.as_object_mut().unwrap().remove("stream"),
        Some(json!(true))
    );
    assert_eq!(streamed, whole);
}

#[test]
fn tools_and_results_with_pictures() {
    let mut request = tool_talk();
    let Part::ToolResult(failed) = &mut request.messages[2].parts[0] else {
        panic!("the first part is a result");
    };
    failed.is_error = true;
    request.messages[2].cache = true;
    assert_json_snapshot!("messages-tools", body("claude-sonnet-4-5", &request));
}

#[test]
fn thoughts_go_back_as_they_came_and_turns_are_merged() {
    let signed =
        json!({"type": "thinking", "thinking": "Bern is in Switzerland.", "signature": "c2ln"});
    let hidden = json!({"type": "redacted_thinking", "data": "ZGF0YQ=="});
    let call =
        json!({"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Bern"}});
    let request = Request {
        messages: vec![
            Message::user("How is it"),
            Message::new(Role::User, [text("in Bern?"), image()]),
            Message::new(
                Role::Assistant,
                [
                    thought(Some((Wire::Messages, signed))),
                    thought(Some((Wire::Messages, hidden))),
                    thought(Some((Wire::Responses, json!({"type": "reasoning"})))),
                    thought(None),
                ],
            ),
            Message::new(
                Role::Assistant,
                [
                    text(" "),
                    Part::ToolCall(ToolCall {
                        id: "toolu_1".to_owned(),
                        name: "weather".to_owned(),
                        input: json!({}),
                        raw: Some((Wire::Messages, call)),
                    }),
                ],
            ),
            Message::new(
                Role::User,
                [text("Quick!"), result("toolu_1", [text("sunny")])],
            ),
        ],
        tools: vec![weather()],
        sampling: crate::Sampling {
            reasoning_effort: Some("high".to_owned()),
            ..Default::default()
        },
        ..Request::default()
    };
    assert_json_snapshot!(
        "messages-thinking-budget",
        body("claude-sonnet-4-5", &request)
    );
    let newer = body("claude-opus-5-5", &request);
    assert_eq!(newer["thinking"], json!({"type": "adaptive"}));
    assert_eq!(newer["output_config"], json!({"effort": "high"}));
    assert_eq!(newer.get("temperature"), None);
    assert_eq!(newer["max_tokens"], 16_384);
}

#[test]
fn answers_by_schema() {
    let request = Request {
        output: answer(),
        ..Request::user("How good?")
    };
    assert_json_snapshot!("messages-json", body("claude-opus-4-6", &request));
    // Models that do not obey schemas give it by a tool.
    assert_json_snapshot!(
        "messages-json-by-tool",
        body("claude-3-7-sonnet-latest", &request)
    );
    let with_tools = Request {
        tools: vec![weather()],
        ..request
    };
    let choice = &body("claude-3-7-sonnet-latest", &with_tools)["tool_choice"];
    assert_eq!(choice, &json!({"type": "any"}));
}

#[test]
fn screens() {
    for (name, model) in [
        ("messages-computer-first", "claude-sonnet-4-5"),
        ("messages-computer-second", "claude-opus-4-6"),
        ("messages-computer-toolset", "claude-opus-5-5"),
    ] {
        let mut sent = sent(&spec(model), &screen(), Encoding::default());
        let tools = sent["body"]["tools"].take();
        assert_json_snapshot!(name, json!({"headers": sent["headers"], "tools": tools}));
    }
}

#[test]
fn calls_of_a_toolset_keep_its_name() {
    let mut request = screen();
    let call = |raw| ToolCall {
        id: "a:1".to_owned(),
        name: "computer".to_owned(),
        input: json!({"action": "left_click", "coordinate": [3, 4]}),
        raw,
    };
    let answered = ToolResult {
        call: "a:1".to_owned(),
        name: "computer".to_owned(),
        parts: vec![image()],
        is_error: false,
    };
    request.messages = vec![
        Message::user("Close it."),
        Message::new(Role::Assistant, [Part::ToolCall(call(None))]),
        Message::new(Role::User, [Part::ToolResult(answered)]),
    ];
    assert_json_snapshot!(
        "messages-computer-calls",
        body("claude-opus-5-5", &request)["messages"]
    );
    let older = body("claude-opus-4-6", &request);
    assert_eq!(older["messages"][1]["content"][0]["name"], "computer");
    assert_eq!(older["messages"][2]["content"][0].get("toolset_name"), None);
}

#[test]
fn tools_that_have_to_be_used() {
    let choice = |model: &str, choice: ToolChoice| {
        let request = Request {
            tool_choice: choice,
            ..tool_talk()
        };
        let body = body(model, &request);
        let system: Vec<Value> = body["system"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| b["text"].clone())
            .collect();
        json!([body.get("tool_choice"), system, body.get("thinking")])
    };
    let old = "claude-sonnet-4-5";
    assert_eq!(
        choice(old, ToolChoice::Auto),
        json!([null, ["Be brief."], null])
    );
    assert_eq!(
        choice(old, ToolChoice::None),
        json!([{"type": "none"}, ["Be brief."], null])
    );
    assert_eq!(
        choice(old, ToolChoice::Required),
        json!([{"type": "any"}, ["Be brief."], null])
    );
    let named = || ToolChoice::Named("weather".to_owned());
    let tool = json!({"type": "tool", "name": "weather"});
    assert_eq!(choice(old, named()), json!([tool, ["Be brief."], null]));
    assert_eq!(
        choice("claude-opus-5", named()),
        json!([tool, ["Be brief."], {"type": "disabled"}])
    );
    assert_eq!(
        choice("claude-opus-5-5", named()),
        json!([
            null,
            ["Be brief.", "Answer by using the tool `weather`."],
            null
        ])
    );
    // Without tools there is nothing to choose.
    let request = Request {
        tool_choice: ToolChoice::Required,
        ..Request::user("a")
    };
    assert_eq!(body(old, &request).get("tool_choice"), None);
}

#[test]
fn sampling_is_left_out_where_it_is_refused() {
    let mut request = Request::user("a");
    request.sampling.temperature = Some(1.5);
    request.sampling.top_p = Some(0.5);
    request.sampling.top_k = Some(5);
    request.sampling.seed = Some(1);
    request.sampling.max_tokens = Some(100);
    request.sampling.stop = vec!["END".to_owned()];
    let picked = |model: &str, request: &Request| {
        let body = body(model, request);
        json!([
            body.get("temperature"),
            body.get("top_p"),
            body.get("top_k"),
            body["max_tokens"],
            body["stop_sequences"],
            body.get("seed"),
        ])
    };
    assert_eq!(
        picked("claude-3-5-haiku-latest", &request),
        json!([1.0, 0.5, 5, 100, ["END"], null])
    );
    assert_eq!(
        picked("claude-sonnet-4-5", &request),
        json!([1.0, null, 5, 100, ["END"], null])
    );
    assert_eq!(
        picked("claude-opus-4-7", &request),
        json!([null, null, null, 100, ["END"], null])
    );
    request.sampling.reasoning_effort = Some("low".to_owned());
    assert_eq!(
        picked("claude-sonnet-4-5", &request),
        json!([null, null, null, 1_124, ["END"], null])
    );
    let mut silent = spec("claude-sonnet-4-5");
    silent.settings.disable_stop_word = true;
    silent.settings.temperature = None;
    silent.settings.top_p = Some(0.9);
    let body = sent(&silent, &Request::user("a"), Encoding::default())["body"].take();
    assert_eq!(
        (body.get("stop_sequences"), &body["top_p"]),
        (None, &json!(0.9))
    );
    assert_eq!(body["max_tokens"], 8_192);
}

#[test]
fn at_most_four_marks_and_the_last_ones_win() {
    let marks = |request: &Request, caching: bool| {
        let mut spec = spec("claude-sonnet-4-5");
        spec.settings.caching_prompt = caching;
        let text = sent(&spec, request, Encoding::default())["body"].to_string();
        text.matches("cache_control").count()
    };
    let mut request = tool_talk();
    request.messages = (0..9)
        .map(|nth| {
            let role = if nth % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            let mut message = Message::new(role, [text(&format!("turn {nth}"))]);
            message.cache = true;
            message
        })
        .collect();
    assert_eq!(marks(&request, true), 4);
    assert_eq!(marks(&request, false), 0);
    let body = body("claude-sonnet-4-5", &request);
    let marked = |nth: usize| {
        body["messages"][nth]["content"][0]
            .get("cache_control")
            .is_some()
    };
    assert_eq!(
        (0..9).filter(|nth| marked(*nth)).collect::<Vec<_>>(),
        [7, 8]
    );
    assert!(body["tools"][0].get("cache_control").is_some());
}

#[test]
fn newer_models_do_not_go_on_with_their_own_words() {
    let request = Request::new([Message::user("a"), Message::assistant("b")]);
    let last = |model: &str| {
        body(model, &request)["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    assert_eq!(last("claude-sonnet-4-5")["role"], "assistant");
    let added = json!({"role": "user", "content": [{"type": "text", "text": "Continue."}]});
    assert_eq!(last("claude-opus-4-6"), added);
}

#[test]
fn a_body_of_the_same_form_is_sent_as_it_is_with_its_own_model() {
    let raw = json!({
        "model": "whatever", "max_tokens": 5, "stream": true, "unknown": [1],
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "computer_20250124", "name": "computer"}],
    });
    let mut request = Messages.read_request(raw).unwrap();
    request.extra.insert("max_tokens".to_owned(), json!(7));
    let mut spec = spec("claude-opus-4-6");
    spec.settings
        .completion_kwargs
        .insert("metadata".to_owned(), json!({"user_id": "u"}));
    assert_json_snapshot!("messages-raw", sent(&spec, &request, Encoding::default()));
}

#[test]
fn blind_models_are_told_that_there_was_a_picture() {
    let mut spec = spec("claude-sonnet-4-5");
    spec.settings.disable_vision = true;
    let body = sent(&spec, &tool_talk(), Encoding::default())["body"].to_string();
    assert!(!body.contains("base64") && body.contains("[a picture that you can't see]"));
}
