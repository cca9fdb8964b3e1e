//! What chat completions and Responses, OpenAI's two forms, say in the same words. Where each of them puts
//! it is theirs to know.

use agon_core::ModelFault;
use serde_json::{Map, Value, json};

use super::azure;
use super::body::text;
use super::contract::{Encoding, HttpCall};
use super::overlay::overlay_own;
use crate::error::LlmError;
use crate::message::Part;
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Wire};

/// Instructions before the conversation. Further ones stand below those that are there.
pub(super) fn instruct(request: &mut Request, parts: &[Part]) {
    let words = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let words = words.collect::<Vec<_>>().join("\n");
    match &mut request.system {
        Some(system) => {
            system.push_str("\n\n");
            system.push_str(&words);
        }
        none => *none = Some(words),
    }
}

/// The function of this name, as `told` describes it.
pub(super) fn function(name: &str, told: &Value) -> Tool {
    Tool::Function {
        name: name.to_owned(),
        description: text(told, "description").unwrap_or_default().to_owned(),
        parameters: told
            .get("parameters")
            .filter(|parameters| parameters.is_object())
            .cloned()
            .unwrap_or_else(|| json!({"type": "object", "properties": {}})),
        strict: told.get("strict") == Some(&Value::Bool(true)),
    }
}

/// `named`: the tool that a choice names.
pub(super) fn tool_choice(
    choice: Option<&Value>,
    named: impl FnOnce(&Value) -> Option<&str>,
) -> ToolChoice {
    match choice {
        Some(Value::String(word)) if word == "none" => ToolChoice::None,
        Some(Value::String(word)) if word == "required" => ToolChoice::Required,
        Some(choice) => {
            named(choice).map_or(ToolChoice::Auto, |name| ToolChoice::Named(name.to_owned()))
        }
        None => ToolChoice::Auto,
    }
}

/// `format` has the schema, if one is wanted.
pub(super) fn output(format: Option<&Value>) -> Output {
    match format.and_then(|format| Some((format, format.get("schema")?))) {
        Some((format, schema)) => Output::Json {
            name: text(format, "name").unwrap_or("answer").to_owned(),
            schema: schema.clone(),
        },
        None => Output::Text,
    }
}

/// For whom a body is, and what users lay over it. Whether it is answered by a stream is not the client's
/// to say.
pub(super) fn complete(
    body: &mut Map<String, Value>,
    spec: &ModelSpec,
    request: &Request,
    how: Encoding,
) {
    body.insert("model".to_owned(), spec.model.as_str().into());
    body.remove("stream");
    body.remove("stream_options");
    overlay_own(body, spec, request);
    if how.stream {
        body.insert("stream".to_owned(), true.into());
    }
}

/// To `path` below the base, or to where `at_azure` says for a version of the API.
pub(super) fn post(
    spec: &ModelSpec,
    path: &str,
    at_azure: impl FnOnce(&str) -> String,
    body: Map<String, Value>,
) -> HttpCall {
    let (url, key_header) = match &spec.settings.api_version {
        Some(version) => (at_azure(version), azure::KEY),
        None => {
            let url = format!("{}/{path}", spec.base_url);
            (url, ("authorization", "Bearer "))
        }
    };
    HttpCall {
        url,
        headers: Vec::new(),
        key_header,
        body: body.into(),
    }
}

/// A tool that is one form's own, for a model that `speaks` another.
pub(super) fn own_to_another(wire: Wire, speaks: &str) -> LlmError {
    LlmError::new(
        ModelFault::BadRequest,
        format_args!("a tool of {wire:?} can't be given to a model that speaks {speaks}"),
    )
}

pub(super) fn nameless_call() -> LlmError {
    LlmError::new(ModelFault::BrokenResponse, "a tool call has no name")
}

/// `nth` names calls that came without an id.
pub(super) fn call_id(given: Option<&str>, nth: usize) -> String {
    given.map_or_else(|| format!("call_at_{nth}"), str::to_owned)
}

/// Whether a call says more than what is `usual`: then the provider wants it back as it was.
pub(super) fn says_more(call: &Value, usual: &[&str]) -> bool {
    call.as_object()
        .is_some_and(|call| call.keys().any(|key| !usual.contains(&key.as_str())))
}
