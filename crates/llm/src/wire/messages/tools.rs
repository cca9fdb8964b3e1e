//! Tools, and which of them has to be used.

use serde_json::{Value, json};

use super::content::COMPUTER;
use super::schema::enforced;
use super::traits::{Computer, Traits};
use crate::picture::{Limits, pictures};
use crate::request::{Output, Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Wire};

/// The tool by which a model that does not obey schemas gives its answer as JSON.
pub(super) const ANSWER: &str = "give_json_answer";

/// The tools of a request, in order.
pub(super) fn tools(spec: &ModelSpec, request: &Request, traits: Traits) -> Vec<Value> {
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .filter_map(|tool| match tool {
            Tool::Function {
                name,
                description,
                parameters,
                strict,
            } => {
                let strict = *strict && traits.obeys_schemas();
                Some(function(name, description, parameters, strict))
            }
            Tool::Computer { width, height } => {
                Some(computer(spec, request, (*width, *height), traits))
            }
            Tool::Own { wire, value } => (*wire == Wire::Messages).then(|| value.clone()),
        })
        .collect();
    if let Some(schema) = answered_by_tool(request, traits) {
        tools.push(function(ANSWER, "Gives the answer.", schema, false));
    }
    tools
}

fn function(name: &str, description: &str, parameters: &Value, strict: bool) -> Value {
    let schema = match parameters {
        Value::Object(_) if strict => enforced(parameters),
        Value::Object(_) => parameters.clone(),
        _ => json!({"type": "object", "properties": {}}),
    };
    let mut tool = json!({"name": name, "input_schema": schema});
    if !description.is_empty() {
        tool["description"] = description.into();
    }
    if strict {
        tool["strict"] = true.into();
    }
    tool
}

/// The size is that of the pictures as they are sent, since the model points at what it sees.
fn computer(spec: &ModelSpec, request: &Request, size: (u32, u32), traits: Traits) -> Value {
    let kind = match traits.computer() {
        Computer::Toolset => return json!({"type": "computer_toolset_20260801"}),
        Computer::Second => "computer_20251124",
        Computer::First => "computer_20250124",
    };
    let limits = Limits::of(spec.provider, spec.wire, &spec.model).among(pictures(request));
    let (width, height) = limits.size(size.0, size.1);
    json!({
        "type": kind,
        "name": COMPUTER,
        "display_width_px": width,
        "display_height_px": height,
    })
}

/// What the tools of a body need in a header.
pub(super) fn betas(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let names = [
        ("computer_20251124", "computer-use-2025-11-24"),
        ("computer_20250124", "computer-use-2025-01-24"),
    ];
    let used = |kind: &str| tools.iter().any(|tool| tool["type"] == kind);
    names
        .into_iter()
        .filter(|(kind, _)| used(kind))
        .map(|(_, beta)| beta.to_owned())
        .collect()
}

/// The schema of an answer for which a tool stands in.
fn answered_by_tool(request: &Request, traits: Traits) -> Option<&Value> {
    match &request.output {
        Output::Json { schema, .. } if !traits.obeys_schemas() => Some(schema),
        _ => None,
    }
}

/// What is said about the choice of a tool.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Choice {
    pub(super) value: Option<Value>,
    /// Whether the model has no way around it.
    pub(super) forced: bool,
    /// What a model that can't be forced is told instead.
    pub(super) words: Option<String>,
}

impl Choice {
    pub(super) fn of(request: &Request, tools: &[Value], traits: Traits) -> Self {
        if tools.is_empty() {
            return Self::default();
        }
        let by_tool = answered_by_tool(request, traits).is_some();
        let asked = match &request.tool_choice {
            ToolChoice::Auto if by_tool && tools.len() == 1 => ToolChoice::Named(ANSWER.to_owned()),
            ToolChoice::Auto if by_tool => ToolChoice::Required,
            ToolChoice::None if by_tool => ToolChoice::Named(ANSWER.to_owned()),
            asked => asked.clone(),
        };
        // The members of a toolset have names of their own.
        let asked = match asked {
            ToolChoice::Named(name) if !tools.iter().any(|tool| tool["name"] == name) => {
                ToolChoice::Required
            }
            asked => asked,
        };
        let (value, words) = match asked {
            ToolChoice::Auto => return Self::default(),
            ToolChoice::None => {
                return Self {
                    value: Some(json!({"type": "none"})),
                    ..Self::default()
                };
            }
            ToolChoice::Required => (
                json!({"type": "any"}),
                "Answer by using one of the tools.".to_owned(),
            ),
            ToolChoice::Named(name) => (
                json!({"type": "tool", "name": name}),
                format!("Answer by using the tool `{name}`."),
            ),
        };
        if traits.can_be_forced() {
            Self {
                value: Some(value),
                forced: true,
                words: None,
            }
        } else {
            Self {
                words: Some(words),
                ..Self::default()
            }
        }
    }
}
