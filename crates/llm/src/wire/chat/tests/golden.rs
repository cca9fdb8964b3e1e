//! Bodies that are sent, one per feature, checked against the documentation of chat completions.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::message::{Message, Part, Role, ToolResult};
use crate::request::{Output, Request, Sampling, Tool, ToolChoice};
use crate::spec::{ModelSpec, Provider, Wire};
use crate::wire::chat::Chat;
use crate::wire::contract::{Adapter, Encoding, HttpCall, Served};
use crate::wire::sample::{call, image, result, spec, text, thought, tool_talk, weather};

fn call_of(spec: &ModelSpec, request: &Request) -> HttpCall {
    Chat.encode(spec, request, Encoding::default()).unwrap()
}

fn body(request: &Request) -> Value {
    call_of(&spec(Provider::OpenAi, "gpt-4o"), request).body
}

fn all_sampling() -> Sampling {
    Sampling {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        seed: Some(7),
        max_tokens: Some(100),
        stop: vec!["END".to_owned()],
        reasoning_effort: None,
    }
}

#[test]
fn plain_text() {
    let request = Request {
        system: Some("Be brief.".to_owned()),
        messages: vec![
            Message::user("Hello"),
            Message::assistant("Hi!"),
            Message::user("Who are you?"),
        ],
        ..Request::default()
    };
    let call = call_of(&spec(Provider::OpenAi, "gpt-4o"), &request);
    assert_eq!(call.url, "https://api.openai.com/v1/chat/completions");
    assert_eq!(call.key_header, ("authorization", "Bearer "));
    assert_json_snapshot!(call.body);
}

#[test]
fn images() {
    let message = Message::new(Role::User, [text("What is this?"), image()]);
    assert_json_snapshot!(body(&Request::new([message])));
}

#[test]
fn images_for_a_model_that_cannot_see() {
    let message = Message::new(Role::User, [text("What is this?"), image()]);
    let body = call_of(&spec(Provider::OpenAi, "o3-mini"), &Request::new([message])).body;
    assert_json_snapshot!(body);
}

#[test]
fn tools_and_results_with_a_picture() {
    assert_json_snapshot!(body(&tool_talk()));
}

#[test]
fn results_in_messages_of_their_own_stay_together() {
    let request = Request::new([
        Message::user("Look twice."),
        Message::new(Role::Assistant, [call("a"), call("b")]),
        Message::new(Role::User, [result("a", [image()])]),
        Message::new(Role::User, [result("b", [text("rain")])]),
        Message::assistant("Rain."),
    ]);
    assert_json_snapshot!(body(&request).get("messages").unwrap());
}

#[test]
fn a_failed_tool_says_so() {
    let failed = Part::ToolResult(ToolResult {
        call: "a".to_owned(),
        name: "weather".to_owned(),
        parts: vec![text("no such city")],
        is_error: true,
    });
    let request = Request::new([
        Message::new(Role::Assistant, [call("a")]),
        Message::new(Role::User, [failed]),
    ]);
    assert_json_snapshot!(body(&request).get("messages").unwrap());
}

#[test]
fn tool_choices() {
    let choice = |tool_choice| {
        let request = Request {
            tools: vec![weather()],
            tool_choice,
            ..Request::user("?")
        };
        body(&request).get("tool_choice").cloned()
    };
    assert_eq!(choice(ToolChoice::Auto), None);
    assert_eq!(choice(ToolChoice::None), Some(json!("none")));
    assert_eq!(choice(ToolChoice::Required), Some(json!("required")));
    assert_eq!(
        choice(ToolChoice::Named("weather".to_owned())),
        Some(json!({"type": "function", "function": {"name": "weather"}}))
    );
}

#[test]
fn the_computer_as_a_function() {
    let request = Request {
        tools: vec![Tool::Computer {
            width: 1280,
            height: 800,
        }],
        ..Request::user("Open the menu.")
    };
    assert_json_snapshot!(body(&request));
}

#[test]
fn tools_of_others_are_refused_and_own_ones_kept() {
    let own = |wire| Request {
        tools: vec![Tool::Own {
            wire,
            value: json!({"type": "custom", "custom": {"name": "sql"}}),
        }],
        ..Request::user("?")
    };
    let tools = body(&own(Wire::Chat)).get("tools").cloned();
    assert_eq!(
        tools,
        Some(json!([{"type": "custom", "custom": {"name": "sql"}}]))
    );
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let refused = Chat.encode(&spec, &own(Wire::Messages), Encoding::default());
    assert!(refused.unwrap_err().message().contains("Messages"));
}

#[test]
fn content_of_others_is_not_left_out_silently() {
    let part = |wire| Part::Other {
        wire,
        value: json!({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}),
    };
    let request = |role, wire| Request::new([Message::new(role, [text("a"), part(wire)])]);
    let sent = body(&request(Role::User, Wire::Chat));
    assert_eq!(
        sent.pointer("/messages/0/content/1/type"),
        Some(&json!("input_audio"))
    );
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let encode = |role| Chat.encode(&spec, &request(role, Wire::Gemini), Encoding::default());
    assert!(encode(Role::User).unwrap_err().message().contains("Gemini"));
    // What another model made is no loss.
    assert!(encode(Role::Assistant).is_ok());
}

fn scored(schema: Value) -> Request {
    Request {
        output: Output::Json {
            name: "verdict".to_owned(),
            schema,
        },
        ..Request::user("How good is it?")
    }
}

#[test]
fn a_strict_schema() {
    let schema = json!({"type": "object", "properties": {"score": {"type": "integer"}, "why": {"type": "string"}}, "required": ["score"]});
    assert_json_snapshot!(body(&scored(schema.clone())));
    let local = call_of(&spec(Provider::Local, "m.gguf"), &scored(schema.clone())).body;
    assert_eq!(
        local.pointer("/response_format/json_schema/schema"),
        Some(&schema)
    );
}

#[test]
fn a_schema_that_has_no_strict_form() {
    let body = body(&scored(json!({"type": "object"})));
    let format = body.pointer("/response_format/json_schema").unwrap();
    let expected = json!({"name": "verdict", "strict": false, "schema": {"type": "object"}});
    assert_eq!(format, &expected);
}

#[test]
fn sampling_by_provider() {
    let request = Request {
        sampling: all_sampling(),
        ..Request::user("?")
    };
    let of = |provider, model| call_of(&spec(provider, model), &request).body;
    assert_json_snapshot!("sampling_openai", of(Provider::OpenAi, "gpt-4o"));
    assert_json_snapshot!(
        "sampling_compatible",
        of(Provider::Compatible, "qwen/qwen3-32b")
    );
    assert_json_snapshot!("sampling_local", of(Provider::Local, "m.gguf"));
}

#[test]
fn reasoning_models_are_spared_what_they_refuse() {
    let request = Request {
        sampling: Sampling {
            reasoning_effort: Some("low".to_owned()),
            ..all_sampling()
        },
        ..Request::user("?")
    };
    let mut spec = spec(Provider::OpenAi, "o4-mini");
    assert_json_snapshot!(call_of(&spec, &request).body);
    spec.settings.drop_params = false;
    let body = call_of(&spec, &request).body;
    assert_eq!(body.get("temperature"), Some(&json!(0.5)));
    assert_eq!(body.get("stop"), Some(&json!(["END"])));
}

#[test]
fn thoughts_go_back_only_where_they_are_wanted() {
    let raw = json!({"reasoning_content": "Bern is in Switzerland."});
    let request = Request::new([
        Message::user("?"),
        Message::new(
            Role::Assistant,
            [thought(Some((Wire::Chat, raw))), text("So."), call("a")],
        ),
        Message::new(Role::User, [result("a", [text("sunny")])]),
        Message::new(Role::Assistant, [thought(None), text("It is sunny.")]),
    ]);
    let assistant = |model: &str| {
        let body = call_of(&spec(Provider::Compatible, model), &request).body;
        body.pointer("/messages/1/reasoning_content").cloned()
    };
    assert_eq!(assistant("qwen/qwen3-32b"), None);
    assert_eq!(
        assistant("kimi-k2-thinking"),
        Some(json!("Bern is in Switzerland."))
    );
    let details = json!({"reasoning": "x", "reasoning_details": [{"type": "reasoning.encrypted", "data": "abc"}]});
    let message = Message::new(
        Role::Assistant,
        [thought(Some((Wire::Chat, details))), text("a")],
    );
    let body = body(&Request::new([message]));
    assert_eq!(
        body.pointer("/messages/0"),
        Some(&json!({"role": "assistant", "content": "a",
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "abc"}]}))
    );
}

#[test]
fn cache_marks_for_models_that_take_them() {
    let mut messages = vec![Message::user("A long text."), Message::user("Question")];
    messages[0].cache = true;
    let request = Request::new(messages);
    let mut spec = spec(Provider::Compatible, "anthropic/claude-sonnet-4.5");
    assert_json_snapshot!(call_of(&spec, &request).body);
    spec.settings.caching_prompt = false;
    let unmarked = call_of(&spec, &request).body.to_string();
    assert!(!unmarked.contains("cache_control"));
    assert!(!body(&request).to_string().contains("cache_control"));
}

#[test]
fn no_more_marks_than_are_taken() {
    let marked = |nth: usize| Message {
        cache: true,
        ..Message::user(format!("{nth}"))
    };
    let request = Request::new((0..6).map(marked));
    let spec = spec(Provider::Compatible, "anthropic/claude-sonnet-4.5");
    let body = call_of(&spec, &request).body;
    let messages = body.get("messages").and_then(Value::as_array).unwrap();
    let marks = messages
        .iter()
        .map(|message| message.to_string().contains("cache_control"));
    assert_eq!(
        marks.collect::<Vec<_>>(),
        [false, false, true, true, true, true]
    );
}

#[test]
fn streaming() {
    let spec = spec(Provider::OpenAi, "gpt-4o");
    let call = Chat
        .encode(&spec, &Request::user("?"), Encoding { stream: true })
        .unwrap();
    assert_json_snapshot!(call.body);
}

#[test]
fn own_keys_go_in_last() {
    let mut spec = spec(Provider::Compatible, "m");
    spec.settings.completion_kwargs = json!({
        "extra_body": {"chat_template_kwargs": {"enable_thinking": false}},
        "provider": {"order": ["a"]},
        "temperature": 1.0,
    })
    .as_object()
    .cloned()
    .unwrap();
    let mut request = Request::user("?");
    request.sampling.temperature = Some(0.0);
    request.extra = json!({"provider": {"sort": "price"}, "max_input_size": 512})
        .as_object()
        .cloned()
        .unwrap();
    assert_json_snapshot!(call_of(&spec, &request).body);
}

#[test]
fn a_body_of_the_same_form_is_passed_on_with_the_own_model() {
    let raw = json!({
        "model": "agon", "messages": [{"role": "user", "content": "hi", "name": "x"}],
        "logit_bias": {"1": 2}, "stream": true, "stream_options": {"include_usage": false},
        "temperature": 0.3,
    });
    let request = Chat.read_request(raw).unwrap();
    assert_json_snapshot!(body(&request));
}

#[test]
fn azure_has_an_address_per_deployment() {
    let mut spec = spec(Provider::OpenAi, "gpt-4o");
    spec.base_url = "https://x.openai.azure.com".to_owned();
    spec.settings.api_version = Some("2024-10-21".to_owned());
    let call = call_of(&spec, &Request::user("?"));
    let url = "https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21";
    assert_eq!((call.url.as_str(), call.key_header), (url, ("api-key", "")));
}
