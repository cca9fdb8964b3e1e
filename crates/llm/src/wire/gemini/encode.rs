//! A request as a body of this API. The key is in a header, never in the address.

use serde_json::{Map, Value, json};

use super::content::Writer;
use super::traits::Traits;
use super::{thinking, tools};
use crate::request::{Output, Request};
use crate::spec::{ModelSpec, Wire};
use crate::wire::contract::{Encoding, HttpCall};
use crate::wire::known::known;
use crate::wire::overlay::overlay_own;

/// More stop words are refused.
const STOPS: usize = 5;

pub(super) fn encode(spec: &ModelSpec, request: &Request, how: Encoding) -> HttpCall {
    let mut body = match &request.raw {
        Some((Wire::Gemini, raw)) => raw.as_object().cloned().unwrap_or_default(),
        _ => written(spec, request),
    };
    overlay_own(&mut body, spec, request);
    let model = spec.model.strip_prefix("models/").unwrap_or(&spec.model);
    let folder = if model.contains('/') { "" } else { "models/" };
    let method = if how.stream {
        "streamGenerateContent?alt=sse"
    } else {
        "generateContent"
    };
    HttpCall {
        url: format!("{}/{folder}{model}:{method}", spec.base_url),
        headers: Vec::new(),
        key_header: ("x-goog-api-key", ""),
        body: body.into(),
    }
}

fn written(spec: &ModelSpec, request: &Request) -> Map<String, Value> {
    let traits = Traits::of(&spec.model);
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    let tools = tools::tools(spec, request, traits);
    let (format, words) = answer(request, !tools.is_empty(), traits);

    let system = [request.system.clone(), words];
    let system: Vec<Value> = system
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"text": text}))
        .collect();
    if !system.is_empty() {
        put("systemInstruction", json!({"parts": system}));
    }
    let writer = Writer {
        traits,
        sees: known(spec).vision,
    };
    put("contents", writer.contents(&request.messages).into());
    if !tools.is_empty() {
        put("tools", tools.into());
        if let Some(config) = tools::config(request) {
            put("toolConfig", config);
        }
    }
    if let Some(safety) = &spec.settings.safety_settings {
        put("safetySettings", safety.clone());
    }
    let mut config = sampling(spec, request);
    config.extend(format);
    let effort = request.sampling.reasoning_effort.as_deref();
    let effort = effort.or(spec.settings.reasoning_effort.as_deref());
    if let Some(thinking) = thinking::config(effort, traits) {
        config.insert("thinkingConfig".to_owned(), thinking);
    }
    if !config.is_empty() {
        put("generationConfig", config.into());
    }
    body
}

fn sampling(spec: &ModelSpec, request: &Request) -> Map<String, Value> {
    let (asked, settings) = (&request.sampling, &spec.settings);
    let stops = asked.stop.iter().take(STOPS).cloned().collect::<Vec<_>>();
    let stops = (!stops.is_empty() && !settings.disable_stop_word).then_some(stops);
    let keys = [
        (
            "temperature",
            asked.temperature.or(settings.temperature).map(Value::from),
        ),
        ("topP", asked.top_p.or(settings.top_p).map(Value::from)),
        ("topK", asked.top_k.or(settings.top_k).map(Value::from)),
        ("seed", asked.seed.or(settings.seed).map(Value::from)),
        (
            "maxOutputTokens",
            asked
                .max_tokens
                .or(settings.max_output_tokens)
                .map(Value::from),
        ),
        ("stopSequences", stops.map(Value::from)),
    ];
    keys.into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

/// How the answer is to look, and what is said in words where that can't be enforced.
fn answer(request: &Request, tools: bool, traits: Traits) -> (Map<String, Value>, Option<String>) {
    let Output::Json { schema, .. } = &request.output else {
        return (Map::new(), None);
    };
    if tools && !traits.obeys_schemas_with_tools() {
        let words = format!("Answer with nothing but JSON that obeys this schema: {schema}");
        return (Map::new(), Some(words));
    }
    let format = [
        ("responseMimeType".to_owned(), json!("application/json")),
        ("responseJsonSchema".to_owned(), tools::schema(schema)),
    ];
    (Map::from_iter(format), None)
}
