//! Answers in the form of chat completions, for clients of the gateway.

use serde_json::{Map, Value, json};

use crate::message::{Part, ToolCall};
use crate::reply::{Reply, Stop};
use crate::spec::Wire;
use crate::wire::arguments;
use crate::wire::body::{list, text};

pub(super) fn reply(model: &str, reply: &Reply) -> Value {
    if let Some(came) = as_it_came(reply) {
        let mut body = came.clone();
        for (key, value) in head(model, reply, "chat.completion") {
            body.insert(key, value);
        }
        body.entry("usage").or_insert_with(|| usage(reply));
        return body.into();
    }
    let mut body = head(model, reply, "chat.completion");
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let calls: Vec<Value> = reply.tool_calls().map(call).collect();
    let words = reply.text();
    let content = if words.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        words.into()
    };
    message.insert("content".to_owned(), content);
    message.insert("refusal".to_owned(), Value::Null);
    message.extend(thoughts(reply));
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    body.insert(
        "choices".to_owned(),
        json!([{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish_reason(&reply.stop),
        }]),
    );
    body.insert("usage".to_owned(), usage(reply));
    body.into()
}

/// The body of a service of this form, with all that it has beside the answer. `None`: it was another form,
/// or does not say the same, because tools were written into the text.
fn as_it_came(reply: &Reply) -> Option<&Map<String, Value>> {
    let body = reply.raw.as_object()?;
    let [choice] = list(&reply.raw, "choices") else {
        return None;
    };
    let message = choice.get("message")?;
    let words = match message.get("content") {
        Some(Value::String(words)) => words.as_str(),
        None | Some(Value::Null) => "",
        Some(_) => return None,
    };
    let calls = list(message, "tool_calls").len();
    let same = reply.text() == words && reply.tool_calls().count() == calls;
    same.then_some(body)
}

/// The whole answer in few chunks: it is complete when the gateway has it.
pub(super) fn stream(model: &str, given: &Reply) -> Vec<(Option<String>, String)> {
    let mut whole = reply(model, given);
    let mut head = head(model, given, "chat.completion.chunk");
    for key in ["system_fingerprint", "service_tier"] {
        if let Some(value) = whole.get(key) {
            head.insert(key.to_owned(), value.clone());
        }
    }
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = head.clone();
        chunk.insert("choices".to_owned(), choices);
        chunk.insert("usage".to_owned(), usage);
        (None, Value::Object(chunk).to_string())
    };
    let delta = |delta: Value, logprobs: Value, reason: Value| {
        let choice =
            json!({"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": reason});
        chunk(json!([choice]), Value::Null)
    };
    let plain = |piece: Value| delta(piece, Value::Null, Value::Null);
    let mut take = |pointer: &str| whole.pointer_mut(pointer).map(Value::take);
    let mut message = match take("/choices/0/message") {
        Some(Value::Object(message)) => message,
        _ => Map::new(),
    };
    let mut events = vec![plain(json!({"role": "assistant", "content": ""}))];
    let (content, calls) = (message.remove("content"), message.remove("tool_calls"));
    // Thoughts, annotations and whatever else the service says.
    message.retain(|key, value| key != "role" && !value.is_null());
    if !message.is_empty() {
        events.push(plain(message.into()));
    }
    let content = content.filter(|content| content.as_str().is_some_and(|text| !text.is_empty()));
    let logprobs = take("/choices/0/logprobs").unwrap_or_default();
    if content.is_some() || !logprobs.is_null() {
        let content = json!({"content": content.unwrap_or("".into())});
        events.push(delta(content, logprobs, Value::Null));
    }
    let calls = calls.as_ref().and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let mut call = call.clone();
        if let Some(call) = call.as_object_mut() {
            call.insert("index".to_owned(), index.into());
        }
        events.push(plain(json!({"tool_calls": [call]})));
    }
    let reason = take("/choices/0/finish_reason").unwrap_or_default();
    events.push(delta(json!({}), Value::Null, reason));
    events.push(chunk(json!([]), take("/usage").unwrap_or_default()));
    events.push((None, "[DONE]".to_owned()));
    events
}

fn head(model: &str, reply: &Reply, object: &str) -> Map<String, Value> {
    let id = text(&reply.raw, "id").unwrap_or("chatcmpl-agon");
    let created = reply
        .raw
        .get("created")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let mut head = Map::new();
    head.insert("id".to_owned(), id.into());
    head.insert("object".to_owned(), object.into());
    head.insert("created".to_owned(), created.into());
    head.insert("model".to_owned(), model.into());
    head
}

/// In the service's own keys where it speaks this form: they may be signed, and wanted back.
fn thoughts(reply: &Reply) -> Map<String, Value> {
    let mut keys = Map::new();
    let mut texts = String::new();
    for part in &reply.parts {
        if let Part::Reasoning(reasoning) = part {
            match &reasoning.raw {
                Some((Wire::Chat, Value::Object(raw))) => keys.extend(raw.clone()),
                _ => texts.push_str(&reasoning.text),
            }
        }
    }
    if !texts.is_empty() {
        keys.insert("reasoning_content".to_owned(), texts.into());
    }
    keys
}

fn call(call: &ToolCall) -> Value {
    if let Some((Wire::Chat, raw)) = &call.raw {
        return raw.clone();
    }
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments::write(&call.input)},
    })
}

fn finish_reason(stop: &Stop) -> &'static str {
    match stop {
        Stop::MaxTokens => "length",
        Stop::ToolCalls => "tool_calls",
        Stop::End | Stop::StopWord | Stop::Other(_) => "stop",
    }
}

fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.tokens(),
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}
