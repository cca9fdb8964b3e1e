//! A request as a body of this API.

use serde_json::{Map, Value, json};

use super::content::{Writer, mark};
use super::schema::enforced;
use super::thinking::Thinking;
use super::tools::{Choice, betas, tools};
use super::traits::{Computer, Traits};
use crate::message::Message;
use crate::request::{Output, Request, Tool};
use crate::spec::{ModelSpec, Wire};
use crate::wire::body::put;
use crate::wire::contract::{Encoding, HttpCall};
use crate::wire::known::known;
use crate::wire::overlay::overlay_own;
use crate::wire::settled::{cap, fill};

const LENGTH: &str = "max_tokens";
const VERSION: &str = "2023-06-01";
/// More marks are refused.
const MARKS: usize = 4;
/// Said to a model that does not go on with its own words.
const GO_ON: &str = "Continue.";

pub(super) fn encode(spec: &ModelSpec, request: &Request, how: Encoding) -> HttpCall {
    let mut body = match &request.raw {
        Some((Wire::Messages, Value::Object(raw))) => settled(spec, request, raw.clone()),
        _ => written(spec, request),
    };
    body.insert("model".to_owned(), spec.model.as_str().into());
    overlay_own(&mut body, spec, request);
    if how.stream {
        body.insert("stream".to_owned(), true.into());
    } else {
        body.remove("stream");
    }
    let body = Value::Object(body);
    let version = spec.settings.api_version.as_deref().unwrap_or(VERSION);
    let mut headers = vec![("anthropic-version", version.to_owned())];
    let mut names = betas(&body);
    for asked in &request.betas {
        if !names.iter().any(|name| name == asked) {
            names.push(asked.clone());
        }
    }
    if !names.is_empty() {
        headers.push(("anthropic-beta", names.join(",")));
    }
    HttpCall {
        url: format!("{}/messages", spec.base_url),
        headers,
        key_header: ("x-api-key", ""),
        body,
    }
}

/// A client's own body, with what the configuration says. How much an older model is to think is left to
/// the client: whether it can is a matter of all that was said before.
fn settled(
    spec: &ModelSpec,
    request: &Request,
    mut body: Map<String, Value>,
) -> Map<String, Value> {
    let traits = Traits::of(&spec.model);
    cap(&mut body, &[LENGTH], spec.settings.max_output_tokens);
    let asked = ["thinking", "output_config", "temperature", "top_p", "top_k"];
    if traits.thinks_adaptively() && !asked.iter().any(|key| body.contains_key(*key)) {
        let kind = &body.get("tool_choice").unwrap_or(&Value::Null)["type"];
        let forced = kind == "any" || kind == "tool";
        let effort = request.sampling.reasoning_effort.as_deref();
        let thinking = Thinking::of(effort, forced, traits);
        if let Some(effort) = thinking.effort {
            body.insert("output_config".to_owned(), json!({"effort": effort}));
        }
        if let Some(thinking) = thinking.thinking {
            body.insert("thinking".to_owned(), thinking);
        }
    }
    let thinks = body.get("thinking").unwrap_or(&Value::Null)["type"] != "disabled";
    if !(body.contains_key("thinking") && thinks) {
        let more = sampling(spec, request, traits);
        // Newer models take one of the two only.
        let one: &[&[&str]] = match traits.samples_by_both() {
            true => &[],
            false => &[&["temperature", "top_p"]],
        };
        fill(&mut body, more, one);
    }
    body
}

fn sampling(spec: &ModelSpec, request: &Request, traits: Traits) -> Map<String, Value> {
    let (asked, settings) = (&request.sampling, &spec.settings);
    let mut keys = Map::new();
    if !traits.samples() {
        return keys;
    }
    let temperature = asked.temperature.or(settings.temperature);
    let top_p = asked.top_p.or(settings.top_p);
    let top_p = top_p.filter(|_| temperature.is_none() || traits.samples_by_both());
    // 1 is the most that is taken here.
    put(
        &mut keys,
        "temperature",
        temperature.map(|t| t.clamp(0.0, 1.0)),
    );
    put(&mut keys, "top_p", top_p);
    put(&mut keys, "top_k", asked.top_k.or(settings.top_k));
    keys
}

fn written(spec: &ModelSpec, request: &Request) -> Map<String, Value> {
    let settings = &spec.settings;
    let sampling = &request.sampling;
    let traits = Traits::of(&spec.model);
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);

    let mut tools = tools(spec, request, traits);
    let choice = Choice::of(request, &tools, traits);
    let effort = sampling.reasoning_effort.as_deref();
    let effort = effort.or(settings.reasoning_effort.as_deref());
    let thinking = Thinking::of(effort, choice.forced, traits);

    let mut marks = if settings.caching_prompt { MARKS } else { 0 };
    let words = [request.system.as_deref(), choice.words.as_deref()];
    let mut system: Vec<Value> = words
        .into_iter()
        .flatten()
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    for last in [tools.last_mut(), system.last_mut()].into_iter().flatten() {
        if marks > 0 && mark(last) {
            marks -= 1;
        }
    }
    if !system.is_empty() {
        put("system", system.into());
    }
    if !tools.is_empty() {
        put("tools", tools.into());
    }
    if let Some(choice) = choice.value {
        put("tool_choice", choice);
    }

    let has_screen = request
        .tools
        .iter()
        .any(|tool| matches!(tool, Tool::Computer { .. }));
    let writer = Writer {
        toolset: has_screen && traits.computer() == Computer::Toolset,
        sees: known(spec).vision,
        marks,
    };
    let mut messages = writer.messages(&request.messages);
    let ends_with_answer = messages
        .last()
        .is_some_and(|last| last["role"] == "assistant");
    if ends_with_answer && !traits.takes_prefill() && settings.modify_params {
        messages.extend(writer.messages(&[Message::user(GO_ON)]));
    }
    put("messages", messages.into());

    let max_tokens = sampling.max_tokens.or(settings.max_output_tokens);
    let max_tokens = max_tokens.unwrap_or_else(|| traits.max_tokens());
    put(LENGTH, max_tokens.saturating_add(thinking.budget).into());
    if !sampling.stop.is_empty() && !settings.disable_stop_word {
        put("stop_sequences", sampling.stop.clone().into());
    }
    if !thinking.is_on() {
        for (key, value) in self::sampling(spec, request, traits) {
            put(&key, value);
        }
    }

    let mut output = Map::new();
    if let Some(effort) = thinking.effort {
        output.insert("effort".to_owned(), effort.into());
    }
    if let (Output::Json { schema, .. }, true) = (&request.output, traits.obeys_schemas()) {
        let format = json!({"type": "json_schema", "schema": enforced(schema)});
        output.insert("format".to_owned(), format);
    }
    if !output.is_empty() {
        put("output_config", output.into());
    }
    if let Some(thinking) = thinking.thinking {
        put("thinking", thinking);
    }
    body
}
