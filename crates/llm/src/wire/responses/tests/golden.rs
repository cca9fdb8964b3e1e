//! Bodies that are sent, one per feature, checked against the documentation of Responses.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::message::{Message, Part, Role, ToolCall, ToolResult};
use crate::request::{Output, Request, Sampling, Tool, ToolChoice};
use crate::spec::{Provider, Wire};
use crate::wire::contract::{Adapter, Encoding, Served};
use crate::wire::responses::Responses;
use crate::wire::sample::{call, image, result, spec, text, thought, tool_talk, weather};

fn body_of(model: &str, request: &Request) -> Value {
    let spec = spec(Provider::OpenAi, model);
    let call = Responses
        .encode(&spec, request, Encoding::default())
        .unwrap();
    assert_eq!(call.url, "https://api.openai.com/v1/responses");
    assert_eq!(call.key_header, ("authorization", "Bearer "));
    call.body
}

fn body(request: &Request) -> Value {
    body_of("gpt-4o", request)
}

#[test]
fn text_and_images() {
    let request = Request {
        system: Some("Be brief.".to_owned()),
        messages: vec![
            Message::new(Role::User, [text("What is this?"), image()]),
            Message::assistant("A picture."),
            Message::user("Of what?"),
        ],
        ..Request::default()
    };
    assert_json_snapshot!(body(&request));
}

#[test]
fn tools_and_results_with_a_picture() {
    assert_json_snapshot!(body(&tool_talk()));
}

#[test]
fn a_tool_that_is_not_strict_says_so() {
    let request = Request {
        tools: vec![Tool::Function {
            name: "f".to_owned(),
            description: "d".to_owned(),
            parameters: json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            strict: false,
        }],
        ..Request::user("?")
    };
    assert_eq!(
        body(&request).get("tools"),
        Some(
            &json!([{"type": "function", "name": "f", "description": "d", "strict": false,
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}])
        )
    );
}

#[test]
fn a_strict_schema_and_sampling() {
    let request = Request {
        output: Output::Json {
            name: "verdict".to_owned(),
            schema: json!({"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}),
        },
        sampling: Sampling {
            temperature: Some(0.0),
            top_p: Some(0.5),
            max_tokens: Some(300),
            stop: vec!["END".to_owned()],
            seed: Some(1),
            top_k: Some(2),
            reasoning_effort: None,
        },
        ..Request::user("How good?")
    };
    assert_json_snapshot!(body(&request));
}

#[test]
fn thoughts_go_back_encrypted() {
    let item =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let request = Request {
        sampling: Sampling {
            temperature: Some(0.0),
            reasoning_effort: Some("high".to_owned()),
            ..Sampling::default()
        },
        ..Request::new([
            Message::user("?"),
            Message::new(
                Role::Assistant,
                [
                    thought(Some((Wire::Responses, item))),
                    thought(None),
                    Part::Other {
                        wire: Wire::Responses,
                        value: search,
                    },
                    Part::Other {
                        wire: Wire::Responses,
                        value: json!({"phase": "commentary"}),
                    },
                    text("I look."),
                    call("call_1"),
                ],
            ),
            Message::new(Role::User, [result("call_1", [text("sunny")])]),
        ])
    };
    assert_json_snapshot!(body_of("gpt-5.1", &request));
}

fn screen_talk(action: Value) -> Request {
    let item = |mut rest: Value| {
        rest["type"] = json!("computer_call");
        rest["id"] = json!("cu_1");
        rest["call_id"] = json!("call_1");
        rest["status"] = json!("completed");
        rest["pending_safety_checks"] =
            json!([{"id": "sc_1", "code": "malicious_instructions", "message": "Careful."}]);
        rest
    };
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "computer".to_owned(),
        input: json!({}),
        raw: Some((Wire::Responses, item(action))),
    };
    let shown = Part::ToolResult(ToolResult {
        call: "call_1".to_owned(),
        name: "computer".to_owned(),
        parts: vec![text("The click failed."), image()],
        is_error: false,
    });
    Request {
        tools: vec![Tool::Computer {
            width: 1280,
            height: 800,
        }],
        tool_choice: ToolChoice::Named("computer".to_owned()),
        ..Request::new([
            Message::user("Open the menu."),
            Message::new(Role::Assistant, [Part::ToolCall(call)]),
            Message::new(Role::User, [shown]),
        ])
    }
}

#[test]
fn the_computer_of_the_preview_model() {
    let click = json!({"action": {"type": "click", "x": 1, "y": 2, "button": "left"}});
    assert_json_snapshot!(body_of("computer-use-preview", &screen_talk(click)));
}

#[test]
fn the_computer_of_newer_models() {
    let clicks = json!({"actions": [{"type": "screenshot"}]});
    assert_json_snapshot!(body_of("gpt-5.4", &screen_talk(clicks)));
}

#[test]
fn the_computer_as_a_function_for_models_without_one() {
    let request = Request {
        tools: vec![Tool::Computer {
            width: 1280,
            height: 800,
        }],
        ..Request::user("?")
    };
    let body = body(&request);
    assert_eq!(body.pointer("/tools/0/type"), Some(&json!("function")));
    assert_eq!(body.pointer("/tools/0/name"), Some(&json!("computer")));
    assert_eq!(body.get("truncation"), None);
}

#[test]
fn a_call_of_the_computer_wants_a_screenshot() {
    let mut request = screen_talk(json!({"action": {"type": "screenshot"}}));
    request.messages[2] = Message::new(Role::User, [result("call_1", [text("no")])]);
    let spec = spec(Provider::OpenAi, "computer-use-preview");
    let error = Responses
        .encode(&spec, &request, Encoding::default())
        .unwrap_err();
    assert!(error.message().contains("screenshot"), "{error}");
}

#[test]
fn streaming_and_own_keys() {
    let mut request = Request {
        tools: vec![weather()],
        tool_choice: ToolChoice::Named("weather".to_owned()),
        ..Request::user("?")
    };
    request.extra = json!({"service_tier": "flex", "store": true})
        .as_object()
        .cloned()
        .unwrap();
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let call = Responses
        .encode(&spec, &request, Encoding { stream: true })
        .unwrap();
    assert_json_snapshot!(call.body);
}

#[test]
fn a_body_of_the_same_form_is_passed_on_with_the_own_model() {
    let raw = json!({"model": "agon", "input": "hi", "stream": true, "parallel_tool_calls": false});
    let request = Responses.read_request(raw).unwrap();
    let expected = json!({"model": "gpt-4o", "input": "hi", "parallel_tool_calls": false});
    assert_eq!(body(&request), expected);
}
