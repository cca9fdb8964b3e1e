//! A request as a body of chat completions.

use serde_json::{Map, Value, json};

use super::messages;
use crate::error::LlmError;
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Provider, Wire};
use crate::wire::azure;
use crate::wire::body::put;
use crate::wire::computer;
use crate::wire::contract::{Encoding, HttpCall};
use crate::wire::known::known;
use crate::wire::openai;
use crate::wire::settled::{cap, fill};
use crate::wire::strict::strict;

/// Keys for the longest answer, of which a body has one.
const LENGTHS: [&str; 2] = ["max_tokens", "max_completion_tokens"];
/// The same for how much to think.
const THOUGHTS: [&str; 5] = [
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "thinking_budget",
];

pub(super) fn encode(
    spec: &ModelSpec,
    request: &Request,
    how: Encoding,
) -> Result<HttpCall, LlmError> {
    let mut body = match &request.raw {
        Some((Wire::Chat, Value::Object(raw))) => settled(spec, request, raw.clone()),
        _ => own(spec, request)?,
    };
    openai::complete(&mut body, spec, request, how);
    if how.stream {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    let at_azure = |version: &str| azure::chat(&spec.base_url, &spec.model, version);
    Ok(openai::post(spec, "chat/completions", at_azure, body))
}

/// A client's own body, with what the configuration says.
fn settled(
    spec: &ModelSpec,
    request: &Request,
    mut body: Map<String, Value>,
) -> Map<String, Value> {
    let mut more = Map::new();
    sampling(spec, request, &mut more);
    fill(&mut body, more, &[&LENGTHS, &THOUGHTS]);
    cap(&mut body, &LENGTHS, spec.settings.max_output_tokens);
    body
}

fn own(spec: &ModelSpec, request: &Request) -> Result<Map<String, Value>, LlmError> {
    let mut body = Map::new();
    body.insert(
        "messages".to_owned(),
        messages::write(spec, request)?.into(),
    );
    if !request.tools.is_empty() {
        let tools: Result<Vec<Value>, LlmError> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), tools?.into());
        put(&mut body, "tool_choice", tool_choice(&request.tool_choice));
    }
    put(
        &mut body,
        "response_format",
        response_format(spec, &request.output),
    );
    sampling(spec, request, &mut body);
    Ok(body)
}

fn tool(tool: &Tool) -> Result<Value, LlmError> {
    match tool {
        Tool::Function {
            name,
            description,
            parameters,
            strict: wanted,
        } => {
            let closed = if *wanted { strict(parameters) } else { None };
            let mut function = Map::new();
            function.insert("name".to_owned(), name.as_str().into());
            function.insert("description".to_owned(), description.as_str().into());
            put(&mut function, "strict", closed.is_some().then_some(true));
            let parameters = closed.unwrap_or_else(|| parameters.clone());
            function.insert("parameters".to_owned(), parameters);
            Ok(json!({"type": "function", "function": function}))
        }
        Tool::Computer { width, height } => Ok(json!({"type": "function", "function": {
            "name": computer::NAME,
            "description": computer::description(*width, *height),
            "parameters": computer::parameters(*width, *height),
        }})),
        Tool::Own {
            wire: Wire::Chat,
            value,
        } => Ok(value.clone()),
        Tool::Own { wire, .. } => Err(openai::own_to_another(*wire, "chat completions")),
    }
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

fn response_format(spec: &ModelSpec, output: &Output) -> Option<Value> {
    let Output::Json { name, schema } = output else {
        return None;
    };
    // A grammar on this machine can do what the strict form can't say.
    let closed = match spec.provider {
        Provider::Local => Some(schema.clone()),
        _ => strict(schema),
    };
    Some(json!({"type": "json_schema", "json_schema": {
        "name": name,
        "strict": closed.is_some(),
        "schema": closed.unwrap_or_else(|| schema.clone()),
    }}))
}

fn sampling(spec: &ModelSpec, request: &Request, body: &mut Map<String, Value>) {
    let sampling = &request.sampling;
    let known = known(spec);
    // Who does not want parameters dropped is told by the service that it does not take them.
    let all = !spec.settings.drop_params;
    if known.sampling || all {
        put(body, "temperature", sampling.temperature);
        put(body, "top_p", sampling.top_p);
    }
    if (known.stop || (all && !spec.settings.disable_stop_word)) && !sampling.stop.is_empty() {
        body.insert("stop".to_owned(), sampling.stop.clone().into());
    }
    if spec.provider == Provider::OpenAi {
        put(body, "max_completion_tokens", sampling.max_tokens);
    } else {
        put(body, "max_tokens", sampling.max_tokens);
        put(body, "top_k", sampling.top_k);
    }
    put(body, "seed", sampling.seed);
    put(
        body,
        "reasoning_effort",
        sampling.reasoning_effort.as_deref(),
    );
}
