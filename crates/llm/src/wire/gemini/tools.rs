//! Tools, and which of them has to be used.

use serde_json::{Value, json};

use super::traits::{Computer, Traits};
use crate::picture::Limits;
use crate::request::{Request, Tool, ToolChoice};
use crate::spec::{ModelSpec, Wire};
use crate::wire::computer;

/// Functions are one entry; the provider's own tools are one each.
pub(super) fn tools(spec: &ModelSpec, request: &Request, traits: Traits) -> Vec<Value> {
    let mut functions = Vec::new();
    let mut own = Vec::new();
    for tool in &request.tools {
        match tool {
            Tool::Function {
                name,
                description,
                parameters,
                ..
            } => functions.push(function(name, description, parameters)),
            Tool::Computer { width, height } => match traits.computer() {
                Computer::Desktop => {
                    own.push(json!({"computerUse": {"environment": "ENVIRONMENT_DESKTOP"}}))
                }
                Computer::Browser => {
                    own.push(json!({"computerUse": {"environment": "ENVIRONMENT_BROWSER"}}))
                }
                Computer::Function => {
                    // The size is that of the pictures as they are sent.
                    let limits = Limits::of(spec.provider, spec.wire, &spec.model);
                    let (width, height) = limits.size(*width, *height);
                    let description = computer::description(width, height);
                    let parameters = computer::parameters(width, height);
                    functions.push(function(computer::NAME, &description, &parameters));
                }
            },
            Tool::Own { wire, value } if *wire == Wire::Gemini => own.push(value.clone()),
            Tool::Own { .. } => {}
        }
    }
    if !functions.is_empty() {
        own.insert(0, json!({"functionDeclarations": functions}));
    }
    own
}

fn function(name: &str, description: &str, parameters: &Value) -> Value {
    let mut function = json!({"name": name, "description": description});
    let some = parameters["properties"]
        .as_object()
        .is_some_and(|all| !all.is_empty());
    // An object without properties is refused.
    if some || parameters.get("anyOf").is_some() || parameters.get("$ref").is_some() {
        function["parametersJsonSchema"] = schema(parameters);
    }
    function
}

/// Without the key that says which kind of schema it is, which is refused.
pub(super) fn schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
    }
    schema
}

pub(super) fn config(request: &Request) -> Option<Value> {
    let config = match &request.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => {
            let functions = request.tools.iter().any(
                |tool| matches!(tool, Tool::Function { name: function, .. } if function == name),
            );
            if functions {
                json!({"mode": "ANY", "allowedFunctionNames": [name]})
            } else {
                json!({"mode": "ANY"})
            }
        }
    };
    Some(json!({"functionCallingConfig": config}))
}
