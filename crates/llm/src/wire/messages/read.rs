//! Bodies of clients that speak this API themselves, for the gateway.

use std::collections::HashMap;

use agon_core::ModelFault;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::decode;
use super::thinking::effort_of;
use crate::error::LlmError;
use crate::message::{Image, MediaType, Message, Part, Role, ToolResult};
use crate::request::{Output, Request, Sampling, Tool, ToolChoice};
use crate::spec::Wire;

pub(super) fn read(body: Value) -> Result<Request, LlmError> {
    let bad = |why: &str| LlmError::new(ModelFault::BadRequest, why);
    let messages = body["messages"].as_array();
    let messages = messages.ok_or_else(|| bad("`messages` is not a list"))?;
    if !body["max_tokens"].is_u64() {
        return Err(bad("`max_tokens` is missing"));
    }
    let mut names = HashMap::new();
    let mut system = texts(&body["system"]);
    let mut read: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        // Newer models take words of the system between the turns.
        if message["role"] == "system" {
            system.push_str(if system.is_empty() { "" } else { "\n\n" });
            system.push_str(&texts(&message["content"]));
            continue;
        }
        read.push(turn(message, &mut names));
    }
    let texts_of = |key: &str| -> Vec<String> {
        let list = body[key].as_array();
        let list = list.into_iter().flatten().filter_map(Value::as_str);
        list.map(str::to_owned).collect()
    };
    Ok(Request {
        system: Some(system).filter(|text| !text.is_empty()),
        messages: read,
        tools: body["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(tool)
            .collect(),
        tool_choice: choice(&body["tool_choice"]),
        output: output(&body),
        sampling: Sampling {
            temperature: body["temperature"].as_f64(),
            top_p: body["top_p"].as_f64(),
            top_k: body["top_k"].as_u64(),
            seed: None,
            max_tokens: body["max_tokens"].as_u64(),
            stop: texts_of("stop_sequences"),
            reasoning_effort: effort_of(&body),
        },
        raw: Some((Wire::Messages, body)),
        ..Request::default()
    })
}

/// A string, or blocks of text.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect();
            texts.join("\n\n")
        }
        _ => String::new(),
    }
}

fn turn(message: &Value, names: &mut HashMap<String, String>) -> Message {
    let role = match message["role"].as_str() {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    };
    let content = &message["content"];
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut parts: Vec<Part> = match content {
        Value::String(text) => vec![Part::Text(text.clone())],
        _ => Vec::with_capacity(blocks.len()),
    };
    for block in blocks {
        let part = part(block, names);
        if let Some(Part::ToolCall(call)) = &part {
            names.insert(call.id.clone(), call.name.clone());
        }
        parts.extend(part);
    }
    Message {
        role,
        parts,
        cache: blocks
            .iter()
            .any(|block| block["cache_control"].is_object()),
    }
}

fn part(block: &Value, names: &HashMap<String, String>) -> Option<Part> {
    match block["type"].as_str()? {
        "image" => Some(image(block)),
        "tool_result" => {
            let call = block["tool_use_id"].as_str().unwrap_or_default();
            let parts = match &block["content"] {
                Value::String(text) => vec![Part::Text(text.clone())],
                Value::Array(blocks) => blocks.iter().filter_map(|b| part(b, names)).collect(),
                _ => Vec::new(),
            };
            Some(Part::ToolResult(ToolResult {
                call: call.to_owned(),
                name: names.get(call).cloned().unwrap_or_default(),
                parts,
                is_error: block["is_error"] == true,
            }))
        }
        _ => decode::part(block),
    }
}

/// Pictures that are elsewhere are left to this API: nothing is fetched for a client.
fn image(block: &Value) -> Part {
    let source = &block["source"];
    let media = source["media_type"].as_str().and_then(MediaType::parse);
    let data = source["data"]
        .as_str()
        .and_then(|data| STANDARD.decode(data).ok());
    match (media, data) {
        (Some(media), Some(data)) => Part::Image(Image {
            media,
            bytes: data.into(),
        }),
        _ => Part::Other {
            wire: Wire::Messages,
            value: block.clone(),
        },
    }
}

fn tool(tool: &Value) -> Tool {
    let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let side = |key: &str| tool[key].as_u64().and_then(|side| u32::try_from(side).ok());
    let size = (side("display_width_px"), side("display_height_px"));
    match (tool["type"].as_str(), size) {
        (None | Some("custom"), _) => Tool::Function {
            name: text("name"),
            description: text("description"),
            parameters: tool["input_schema"].clone(),
            strict: tool["strict"] == true,
        },
        (Some(kind), (Some(width), Some(height))) if kind.starts_with("computer_") => {
            Tool::Computer { width, height }
        }
        _ => Tool::Own {
            wire: Wire::Messages,
            value: tool.clone(),
        },
    }
}

fn choice(choice: &Value) -> ToolChoice {
    match (choice["type"].as_str(), choice["name"].as_str()) {
        (Some("none"), _) => ToolChoice::None,
        (Some("any"), _) => ToolChoice::Required,
        (Some("tool"), Some(name)) => ToolChoice::Named(name.to_owned()),
        _ => ToolChoice::Auto,
    }
}

fn output(body: &Value) -> Output {
    // The second is its name of the time before it was settled.
    let formats = [&body["output_config"]["format"], &body["output_format"]];
    let schema = formats
        .into_iter()
        .find(|format| format["type"] == "json_schema")
        .map(|format| format["schema"].clone());
    schema.map_or(Output::Text, |schema| Output::Json {
        name: "answer".to_owned(),
        schema,
    })
}
