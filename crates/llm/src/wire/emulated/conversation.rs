//! A conversation with tools as one without: calls become the text that the model would have written,
//! results become words of the user.

use serde_json::Value;

use crate::message::{Message, Part, ToolCall, ToolResult};

pub(super) fn plain(messages: &[Message]) -> Vec<Message> {
    let each = messages.iter().map(|message| Message {
        parts: parts(&message.parts),
        ..message.clone()
    });
    each.collect()
}

fn parts(given: &[Part]) -> Vec<Part> {
    let mut made = Vec::with_capacity(given.len());
    for part in given {
        match part {
            Part::ToolCall(call) => {
                let words = self::call(call);
                // A call ends the text before it, as the model was told to write it.
                match made.last_mut() {
                    Some(Part::Text(before)) => {
                        before.push_str("\n\n");
                        before.push_str(&words);
                    }
                    _ => made.push(Part::Text(words)),
                }
            }
            Part::ToolResult(result) => self::result(result, &mut made),
            other => made.push(other.clone()),
        }
    }
    made
}

pub(super) fn call(call: &ToolCall) -> String {
    let mut words = format!("<function={}>\n", call.name);
    match &call.input {
        Value::Object(input) => {
            for (name, value) in input {
                let value = match value {
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                };
                let value = if value.contains('\n') {
                    format!("\n{value}\n")
                } else {
                    value
                };
                words.push_str(&format!("<parameter={name}>{value}</parameter>\n"));
            }
        }
        Value::String(broken) => {
            words.push_str(broken);
            words.push('\n');
        }
        other => words.push_str(&format!("{other}\n")),
    }
    words.push_str("</function>");
    words
}

fn result(result: &ToolResult, made: &mut Vec<Part>) {
    let how = if result.is_error { "Error" } else { "Result" };
    let name = if result.name.is_empty() {
        "the function"
    } else {
        &result.name
    };
    let mut words = format!("{how} of {name}:");
    let mut pictures = Vec::new();
    for part in &result.parts {
        match part {
            Part::Text(text) => {
                words.push('\n');
                words.push_str(text);
            }
            other => pictures.push(other.clone()),
        }
    }
    made.push(Part::Text(words));
    made.append(&mut pictures);
}
