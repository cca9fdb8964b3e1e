//! Answers in the form of Responses, for clients of the gateway.

use serde_json::{Map, Value, json};

use crate::message::{Part, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::Wire;
use crate::wire::arguments;
use crate::wire::body::{list, text};

pub(super) fn reply(model: &str, reply: &Reply) -> Value {
    if let Some(came) = as_it_came(reply) {
        let mut body = came.clone();
        body.insert("model".to_owned(), model.into());
        body.entry("usage").or_insert_with(|| usage(reply));
        return body.into();
    }
    let mut body = head(model, reply);
    let (status, details) = ending(&reply.stop);
    body.insert("status".to_owned(), status.into());
    body.insert("incomplete_details".to_owned(), details);
    body.insert("output".to_owned(), items(reply).into());
    body.insert("usage".to_owned(), usage(reply));
    body.into()
}

/// The body of a service of this form, with all that it has beside the answer. `None`: it was another form,
/// or does not say the same, because tools were written into the text.
fn as_it_came(reply: &Reply) -> Option<&Map<String, Value>> {
    let body = reply.raw.as_object()?;
    let output = list(&reply.raw, "output");
    let of =
        |item: &Value, kinds: &[&str]| text(item, "type").is_some_and(|kind| kinds.contains(&kind));
    let words: String = output
        .iter()
        .filter(|item| of(item, &["message"]))
        .flat_map(|item| list(item, "content"))
        .filter_map(|part| text(part, "text"))
        .collect();
    let calls = ["function_call", "computer_call", "custom_tool_call"];
    let calls = output.iter().filter(|item| of(item, &calls)).count();
    let same = reply.text() == words && reply.tool_calls().count() == calls;
    (same && text(&reply.raw, "object") == Some("response")).then_some(body)
}

/// The whole answer in few events: it is complete when the gateway has it.
pub(super) fn stream(model: &str, given: &Reply) -> Vec<(Option<String>, String)> {
    let mut events = Events::default();
    let whole = reply(model, given);
    let mut begun = whole.as_object().cloned().unwrap_or_default();
    for key in ["usage", "incomplete_details"] {
        begun.insert(key.to_owned(), Value::Null);
    }
    begun.insert("status".to_owned(), "in_progress".into());
    begun.insert("output".to_owned(), json!([]));
    events.push("response.created", json!({"response": begun}));
    events.push("response.in_progress", json!({"response": begun}));
    for (index, item) in list(&whole, "output").iter().enumerate() {
        events.item(index, item);
    }
    let kind = match text(&whole, "status") {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    events.push(kind, json!({"response": whole}));
    events.0
}

#[derive(Default)]
struct Events(Vec<(Option<String>, String)>);

impl Events {
    fn push(&mut self, kind: &str, mut event: Value) {
        if let Some(event) = event.as_object_mut() {
            event.insert("type".to_owned(), kind.into());
            event.insert("sequence_number".to_owned(), self.0.len().into());
        }
        self.0.push((Some(kind.to_owned()), event.to_string()));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let id = item.get("id").cloned().unwrap_or_default();
        let of = |mut event: Value| {
            if let Some(event) = event.as_object_mut() {
                event.insert("item_id".to_owned(), id.clone());
                event.insert("output_index".to_owned(), index.into());
            }
            event
        };
        let mut begun = item.clone();
        if let Some(begun) = begun.as_object_mut() {
            begun.insert("status".to_owned(), "in_progress".into());
            for (key, empty) in [("content", json!([])), ("arguments", json!(""))] {
                if begun.contains_key(key) {
                    begun.insert(key.to_owned(), empty);
                }
            }
        }
        self.push(
            "response.output_item.added",
            json!({"output_index": index, "item": begun}),
        );
        let parts = match text(item, "type") {
            Some("message") => list(item, "content"),
            _ => &[],
        };
        for (nth, part) in parts.iter().enumerate() {
            let at = |mut event: Value| {
                if let Some(event) = event.as_object_mut() {
                    event.insert("content_index".to_owned(), nth.into());
                }
                of(event)
            };
            let words = part.get("text").cloned().unwrap_or_default();
            let logprobs = part.get("logprobs").cloned().unwrap_or_else(|| json!([]));
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            self.push("response.content_part.added", at(json!({"part": empty})));
            let delta = json!({"delta": words, "logprobs": logprobs});
            self.push("response.output_text.delta", at(delta));
            let done = json!({"text": words, "logprobs": logprobs});
            self.push("response.output_text.done", at(done));
            self.push("response.content_part.done", at(json!({"part": part})));
        }
        if let Some(arguments) = item.get("arguments") {
            let delta = json!({"delta": arguments});
            self.push("response.function_call_arguments.delta", of(delta));
            let done = json!({"arguments": arguments, "name": item.get("name")});
            self.push("response.function_call_arguments.done", of(done));
        }
        self.push(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        );
    }
}

fn head(model: &str, reply: &Reply) -> Map<String, Value> {
    let id = text(&reply.raw, "id").unwrap_or("agon");
    let id = if id.starts_with("resp_") {
        id.to_owned()
    } else {
        format!("resp_{id}")
    };
    let created = reply
        .raw
        .get("created_at")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let head = json!({
        "id": id,
        "object": "response",
        "created_at": created,
        "model": model,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
        "temperature": null,
        "top_p": null,
        "store": false,
    });
    match head {
        Value::Object(head) => head,
        _ => Map::new(),
    }
}

fn items(reply: &Reply) -> Vec<Value> {
    let items = reply
        .parts
        .iter()
        .enumerate()
        .filter_map(|(nth, part)| match part {
            Part::Text(words) => Some(json!({
                "type": "message",
                "id": format!("msg_{nth}"),
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": words, "annotations": []}],
            })),
            Part::ToolCall(call) => Some(tool_call(nth, call)),
            Part::Reasoning(reasoning) => Some(match &reasoning.raw {
                Some((Wire::Responses, raw)) => raw.clone(),
                _ => json!({
                    "type": "reasoning",
                    "id": format!("rs_{nth}"),
                    "summary": [{"type": "summary_text", "text": reasoning.text}],
                }),
            }),
            Part::Other {
                wire: Wire::Responses,
                value,
            } if value.get("type").is_some() => Some(value.clone()),
            Part::Other { .. } | Part::Image(_) | Part::ToolResult(_) => None,
        });
    items.collect()
}

fn tool_call(nth: usize, call: &ToolCall) -> Value {
    if let Some((Wire::Responses, raw)) = &call.raw {
        return raw.clone();
    }
    json!({
        "type": "function_call",
        "id": format!("fc_{nth}"),
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments::write(&call.input),
    })
}

fn ending(stop: &Stop) -> (&'static str, Value) {
    match stop {
        Stop::MaxTokens => ("incomplete", json!({"reason": "max_output_tokens"})),
        _ => ("completed", Value::Null),
    }
}

fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.tokens(),
    })
}
