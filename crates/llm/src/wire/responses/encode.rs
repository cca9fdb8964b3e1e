//! A request as a body of Responses. Nothing is kept on the provider's side: the whole conversation is
//! sent each time, with thoughts in their encrypted form.

use serde_json::{Map, Value, json};

use super::items;
use crate::error::LlmError;
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Wire};
use crate::wire::azure;
use crate::wire::body::put;
use crate::wire::computer;
use crate::wire::contract::{Encoding, HttpCall};
use crate::wire::known::{Computer, known};
use crate::wire::openai;
use crate::wire::settled::{cap, fill};
use crate::wire::strict::strict;

const LENGTH: &str = "max_output_tokens";

pub(super) fn encode(
    spec: &ModelSpec,
    request: &Request,
    how: Encoding,
) -> Result<HttpCall, LlmError> {
    let mut body = match &request.raw {
        Some((Wire::Responses, Value::Object(raw))) => {
            // What the configuration says holds for a client's own body, too.
            let (mut body, mut more) = (raw.clone(), Map::new());
            sampling(spec, request, &mut more);
            fill(&mut body, more, &[]);
            cap(&mut body, &[LENGTH], spec.settings.max_output_tokens);
            body
        }
        _ => own(spec, request)?,
    };
    openai::complete(&mut body, spec, request, how);
    let at_azure = |version: &str| azure::responses(&spec.base_url, version);
    Ok(openai::post(spec, "responses", at_azure, body))
}

fn own(spec: &ModelSpec, request: &Request) -> Result<Map<String, Value>, LlmError> {
    let known = known(spec);
    let mut body = Map::new();
    put(&mut body, "instructions", request.system.as_deref());
    body.insert("input".to_owned(), items::write(&known, request)?.into());
    body.insert("store".to_owned(), false.into());
    // Models that do not think refuse to be asked for it.
    if known.reasons {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|each| tool(known.computer, each));
        body.insert(
            "tools".to_owned(),
            tools.collect::<Result<Vec<_>, _>>()?.into(),
        );
        put(
            &mut body,
            "tool_choice",
            tool_choice(known.computer, request),
        );
    }
    let screen = request
        .tools
        .iter()
        .any(|tool| matches!(tool, Tool::Computer { .. }));
    if screen && known.computer != Computer::Function {
        body.insert("truncation".to_owned(), "auto".into());
    }
    if let Output::Json { name, schema } = &request.output {
        let closed = strict(schema);
        let format = json!({
            "type": "json_schema",
            "name": name,
            "strict": closed.is_some(),
            "schema": closed.unwrap_or_else(|| schema.clone()),
        });
        body.insert("text".to_owned(), json!({"format": format}));
    }
    sampling(spec, request, &mut body);
    Ok(body)
}

fn sampling(spec: &ModelSpec, request: &Request, body: &mut Map<String, Value>) {
    let sampling = &request.sampling;
    // This form has no stop words, no seed and no top_k.
    if known(spec).sampling || !spec.settings.drop_params {
        put(body, "temperature", sampling.temperature);
        put(body, "top_p", sampling.top_p);
    }
    put(body, LENGTH, sampling.max_tokens);
    if let Some(effort) = &sampling.reasoning_effort {
        body.insert("reasoning".to_owned(), json!({"effort": effort}));
    }
}

fn tool(computer: Computer, tool: &Tool) -> Result<Value, LlmError> {
    match tool {
        Tool::Function {
            name,
            description,
            parameters,
            strict: wanted,
        } => {
            let closed = if *wanted { strict(parameters) } else { None };
            // Left out, it would be taken as true.
            Ok(json!({
                "type": "function",
                "name": name,
                "description": description,
                "strict": closed.is_some(),
                "parameters": closed.unwrap_or_else(|| parameters.clone()),
            }))
        }
        Tool::Computer { width, height } => Ok(match computer {
            Computer::Batched => json!({"type": "computer"}),
            Computer::Preview => json!({
                "type": "computer_use_preview",
                "display_width": width,
                "display_height": height,
                "environment": "linux",
            }),
            Computer::Function => json!({
                "type": "function",
                "name": computer::NAME,
                "description": computer::description(*width, *height),
                "strict": false,
                "parameters": computer::parameters(*width, *height),
            }),
        }),
        Tool::Own {
            wire: Wire::Responses,
            value,
        } => Ok(value.clone()),
        Tool::Own { wire, .. } => Err(openai::own_to_another(*wire, "Responses")),
    }
}

fn tool_choice(computer: Computer, request: &Request) -> Option<Value> {
    let screen = request
        .tools
        .iter()
        .any(|tool| matches!(tool, Tool::Computer { .. }));
    match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Named(name) if screen && name == computer::NAME => Some(match computer {
            Computer::Batched => json!({"type": "computer"}),
            Computer::Preview => json!({"type": "computer_use_preview"}),
            Computer::Function => json!({"type": "function", "name": name}),
        }),
        ToolChoice::Named(name) => Some(json!({"type": "function", "name": name})),
    }
}
