//! One golden file per feature.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::message::{Message, Part, Role, ToolCall};
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Provider, Wire};
use crate::wire::contract::{Adapter, Encoding};
use crate::wire::gemini::Gemini;
use crate::wire::sample::{self, image, result, text, thought, tool_talk, weather};

pub(super) fn spec(model: &str) -> ModelSpec {
    let mut spec = sample::spec(Provider::Gemini, model);
    spec.wire = Wire::Gemini;
    spec.base_url = "https://generativelanguage.googleapis.com/v1beta".to_owned();
    spec
}

fn sent(spec: &ModelSpec, request: &Request, how: Encoding) -> Value {
    let call = Gemini.encode(spec, request, how).unwrap();
    assert_eq!(call.key_header, ("x-goog-api-key", ""));
    json!({"url": call.url, "headers": call.headers, "body": call.body})
}

fn body(model: &str, request: &Request) -> Value {
    sent(&spec(model), request, Encoding::default())["body"].take()
}

fn answer() -> Output {
    Output::Json {
        name: "verdict".to_owned(),
        schema: json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
            "required": ["score"],
        }),
    }
}

#[test]
fn a_plain_question() {
    let mut request = Request {
        system: Some("Be brief.".to_owned()),
        ..Request::new([Message::new(Role::User, [image(), text("What is it?")])])
    };
    request.sampling.top_p = Some(0.9);
    request.sampling.top_k = Some(40);
    request.sampling.seed = Some(7);
    request.sampling.max_tokens = Some(100);
    request.sampling.stop = vec!["END".to_owned()];
    request.sampling.reasoning_effort = Some("low".to_owned());
    let mut spec = spec("gemini-2.5-flash");
    spec.settings.safety_settings = Some(json!([
        {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"},
    ]));
    assert_json_snapshot!("gemini-plain", sent(&spec, &request, Encoding::default()));
}

#[test]
fn streams_differ_by_their_address_only() {
    let whole = sent(&spec("gemini-3.5-flash"), &tool_talk(), Encoding::default());
    let streamed = sent(
        &spec("models/gemini-3.5-flash"),
        &tool_talk(),
        Encoding { stream: true },
    );
    assert_eq!(whole["body"], streamed["body"]);
    let base = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.5-flash";
    assert_eq!(whole["url"], format!("{base}:generateContent"));
    assert_eq!(
        streamed["url"],
        format!("{base}:streamGenerateContent?alt=sse")
    );
}

#[test]
fn tools_and_results_with_pictures() {
    let mut request = tool_talk();
    let Part::ToolResult(failed) = &mut request.messages[2].parts[0] else {
        panic!("the first part is a result");
    };
    failed.is_error = true;
    // An older model sees pictures only beside the results.
    assert_json_snapshot!("gemini-tools-older", body("gemini-2.5-pro", &request));
    assert_json_snapshot!(
        "gemini-tools",
        body("gemini-3-pro-preview", &request)["contents"]
    );
}

#[test]
fn signatures_go_back_as_they_came() {
    let call = json!({"functionCall": {"name": "weather", "args": {"city": "Bern"}}, "thoughtSignature": "c2ln"});
    let thinking = json!({"text": "Bern is in Switzerland.", "thought": true});
    let request = Request {
        messages: vec![
            Message::user("How is it"),
            Message::user("in Bern?"),
            Message::new(
                Role::Assistant,
                [
                    thought(Some((Wire::Gemini, thinking))),
                    thought(Some((Wire::Messages, json!({"type": "thinking"})))),
                    Part::ToolCall(ToolCall {
                        id: "agon_ab_0".to_owned(),
                        name: "weather".to_owned(),
                        input: json!({}),
                        raw: Some((Wire::Gemini, call)),
                    }),
                ],
            ),
            Message::new(Role::User, [result("agon_ab_0", [text("sunny")])]),
        ],
        tools: vec![weather()],
        ..Request::default()
    };
    assert_json_snapshot!(
        "gemini-signatures",
        body("gemini-3-pro-preview", &request)["contents"]
    );
}

#[test]
fn answers_by_schema() {
    let request = Request {
        output: answer(),
        ..Request::user("How good?")
    };
    assert_json_snapshot!("gemini-json", body("gemini-2.5-flash", &request));
    let with_tools = Request {
        tools: vec![weather()],
        ..request
    };
    let older = body("gemini-2.5-flash", &with_tools);
    assert_eq!(older["generationConfig"].get("responseMimeType"), None);
    let words = older["systemInstruction"]["parts"][0]["text"]
        .as_str()
        .unwrap();
    assert!(words.contains("\"score\""), "{words}");
    let newer = body("gemini-3.5-flash", &with_tools);
    assert_eq!(
        newer["generationConfig"]["responseMimeType"],
        "application/json"
    );
}

#[test]
fn screens() {
    let request = Request {
        tools: vec![
            Tool::Computer {
                width: 3840,
                height: 2160,
            },
            weather(),
        ],
        ..Request::user("Close the window.")
    };
    let tools = |model: &str| body(model, &request)["tools"].take();
    let own = |environment: &str| json!({"computerUse": {"environment": environment}});
    assert_eq!(tools("gemini-3.5-flash")[1], own("ENVIRONMENT_DESKTOP"));
    assert_eq!(
        tools("gemini-2.5-computer-use-preview-10-2025")[1],
        own("ENVIRONMENT_BROWSER")
    );
    let function = &tools("gemini-2.5-pro")[0]["functionDeclarations"][0];
    assert_eq!(function["name"], "computer");
    // The size is that of the pictures as they are sent.
    assert_eq!(
        function["parametersJsonSchema"]["properties"]["x"]["maximum"],
        3071
    );
}

#[test]
fn tools_that_have_to_be_used() {
    let config = |choice: ToolChoice| {
        let request = Request {
            tool_choice: choice,
            ..tool_talk()
        };
        body("gemini-2.5-pro", &request)["toolConfig"]["functionCallingConfig"].take()
    };
    assert_eq!(config(ToolChoice::Auto), Value::Null);
    assert_eq!(config(ToolChoice::None), json!({"mode": "NONE"}));
    assert_eq!(config(ToolChoice::Required), json!({"mode": "ANY"}));
    assert_eq!(
        config(ToolChoice::Named("weather".to_owned())),
        json!({"mode": "ANY", "allowedFunctionNames": ["weather"]})
    );
    assert_eq!(
        config(ToolChoice::Named("computer".to_owned())),
        json!({"mode": "ANY"})
    );
}

#[test]
fn own_keys_are_laid_over_what_is_there() {
    let mut spec = spec("gemini-2.5-flash");
    let own = json!({"generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_HIGH"}});
    spec.settings.completion_kwargs = own.as_object().cloned().unwrap();
    let body = sent(&spec, &Request::user("a"), Encoding::default())["body"].take();
    assert_eq!(
        body["generationConfig"],
        json!({"temperature": 0.0, "mediaResolution": "MEDIA_RESOLUTION_HIGH"})
    );
}

#[test]
fn blind_models_are_told_that_there_was_a_picture() {
    let mut spec = spec("gemini-3.5-flash");
    spec.settings.disable_vision = true;
    let body = sent(&spec, &tool_talk(), Encoding::default())["body"].to_string();
    assert!(!body.contains("inlineData") && body.contains("[a picture that you can't see]"));
}
