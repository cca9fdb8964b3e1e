//! Specs, requests and pictures for the tests of all forms.

use serde_json::json;

use crate::message::{Image, MediaType, Message, Part, Reasoning, Role, ToolCall, ToolResult};
use crate::request::{Request, Tool};
use crate::spec::{ModelSpec, Provider, Settings, Wire};

pub(crate) fn spec(provider: Provider, model: &str) -> ModelSpec {
    let base_url = match provider {
        Provider::OpenAi => "https://api.openai.com/v1",
        Provider::Compatible => "https://openrouter.ai/api/v1",
        _ => "http://localhost/v1",
    };
    ModelSpec {
        name: format!("test/{model}"),
        provider,
        wire: Wire::Chat,
        model: model.to_owned(),
        base_url: base_url.to_owned(),
        key: None,
        settings: Settings::default(),
    }
}

pub(crate) fn image() -> Part {
    Part::Image(Image {
        media: MediaType::Png,
        bytes: b"\x89PNG".to_vec().into(),
    })
}

pub(crate) fn weather() -> Tool {
    Tool::Function {
        name: "weather".to_owned(),
        description: "The weather of a city.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["c", "f"]},
            },
            "required": ["city"],
        }),
        strict: true,
    }
}

pub(crate) fn call(id: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        input: json!({"city": "Bern"}),
        raw: None,
    })
}

pub(crate) fn result(id: &str, parts: impl IntoIterator<Item = Part>) -> Part {
    Part::ToolResult(ToolResult {
        call: id.to_owned(),
        name: "weather".to_owned(),
        parts: parts.into_iter().collect(),
        is_error: false,
    })
}

pub(crate) fn text(words: &str) -> Part {
    Part::Text(words.to_owned())
}

pub(crate) fn thought(raw: Option<(Wire, serde_json::Value)>) -> Part {
    Part::Reasoning(Reasoning {
        text: "Bern is in Switzerland.".to_owned(),
        raw,
    })
}

/// Two calls, one answered with a picture, and a further word.
pub(crate) fn tool_talk() -> Request {
    Request {
        system: Some("Be brief.".to_owned()),
        messages: vec![
            Message::user("How is it in Bern?"),
            Message::new(
                Role::Assistant,
                [text("I look."), call("call_1"), call("call_2")],
            ),
            Message::new(
                Role::User,
                [
                    result("call_1", [text("sunny")]),
                    result("call_2", [text("a photo"), image()]),
                    text("Well?"),
                ],
            ),
        ],
        tools: vec![weather()],
        ..Request::default()
    }
}
