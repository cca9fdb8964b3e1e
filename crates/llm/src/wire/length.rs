//! The longest answer that a request allows, in the words of each form: what it says, what the model itself
//! allows where it says nothing, and how it is shortened.

use serde_json::{Map, Value};

use super::body::count;
use crate::spec::{ModelSpec, Provider, Wire};

/// The keys for it, the usual one first.
const CHAT: [&str; 2] = ["max_tokens", "max_completion_tokens"];
const RESPONSES: [&str; 1] = ["max_output_tokens"];
const MESSAGES: [&str; 1] = ["max_tokens"];
const GEMINI: [&str; 1] = ["maxOutputTokens"];
/// Where Gemini's stands.
const SETTINGS: &str = "generationConfig";

/// Of models by the beginning of their names.
const KNOWN: [(&str, u64); 13] = [
    ("gpt-3.5", 4_096),
    ("gpt-4-", 8_192),
    ("gpt-4o", 16_384),
    ("gpt-4.1", 32_768),
    ("gpt-5-chat", 16_384),
    ("gpt-5", 128_000),
    ("gpt-6", 128_000),
    ("o1", 100_000),
    ("o3", 100_000),
    ("o4", 100_000),
    ("gemini-1", 8_192),
    ("gemini-2.0", 8_192),
    ("gemini-", 65_536),
];
/// Of models that nobody has listed.
const USUAL: u64 = 16_384;
/// No model allows more, whatever a request says.
const MOST: u64 = 1 << 20;
/// The least that every service takes.
const LEAST: u64 = 16;

/// How long the answer to this body can get.
pub(crate) fn longest(spec: &ModelSpec, body: &Value) -> u64 {
    let asked = keys(spec.wire).iter().filter_map(|key| match spec.wire {
        Wire::Gemini => count(body.get(SETTINGS)?, &format!("/{key}")),
        _ => count(body, &format!("/{key}")),
    });
    let asked = asked.max().map(|asked| asked.min(MOST));
    asked
        .or(spec.settings.max_output_tokens)
        .unwrap_or_else(|| of_model(spec))
}

fn of_model(spec: &ModelSpec) -> u64 {
    let name = spec.model.rsplit('/').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let known = KNOWN.iter().find(|(begin, _)| name.starts_with(begin));
    known.map_or(USUAL, |(_, most)| *most)
}

/// An answer that is shorter is refused, or worth nothing.
pub(crate) fn shortest(body: &Value) -> u64 {
    let thinking = count(body, "/thinking/budget_tokens").unwrap_or(0);
    LEAST.saturating_add(thinking)
}

/// Allows no more than `most`.
pub(crate) fn shorten(spec: &ModelSpec, body: &mut Value, most: u64) {
    let Some(body) = body.as_object_mut() else {
        return;
    };
    if spec.wire == Wire::Gemini {
        let settings = body.entry(SETTINGS).or_insert_with(|| Map::new().into());
        if let Some(settings) = settings.as_object_mut() {
            set(settings, &GEMINI, GEMINI[0], most);
        }
        return;
    }
    let usual = match (spec.wire, spec.provider) {
        (Wire::Chat, Provider::OpenAi) => CHAT[1],
        (wire, _) => keys(wire)[0],
    };
    set(body, keys(spec.wire), usual, most);
}

fn set(body: &mut Map<String, Value>, keys: &[&str], usual: &str, most: u64) {
    let mut said = false;
    for key in keys {
        if let Some(value) = body.get_mut(*key).filter(|value| !value.is_null()) {
            *value = most.into();
            said = true;
        }
    }
    if !said {
        body.insert(usual.to_owned(), most.into());
    }
}

const fn keys(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Chat => &CHAT,
        Wire::Responses => &RESPONSES,
        Wire::Messages => &MESSAGES,
        Wire::Gemini => &GEMINI,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::sample::spec;

    #[test]
    fn what_a_body_says_comes_before_the_section_and_the_model() {
        let mut spec = spec(Provider::OpenAi, "gpt-4o-mini");
        assert_eq!(longest(&spec, &json!({})), 16_384);
        spec.settings.max_output_tokens = Some(90);
        assert_eq!(longest(&spec, &json!({"max_tokens": null})), 90);
        assert_eq!(longest(&spec, &json!({"max_completion_tokens": 7})), 7);
        assert_eq!(longest(&spec, &json!({"max_tokens": 1e30})), MOST);
        spec.wire = Wire::Gemini;
        let body = json!({"generationConfig": {"maxOutputTokens": 5}});
        assert_eq!(longest(&spec, &body), 5);
    }

    #[test]
    fn every_form_is_shortened_in_its_own_words() {
        for (wire, provider, body, expected) in [
            (
                Wire::Chat,
                Provider::OpenAi,
                json!({}),
                json!({"max_completion_tokens": 9}),
            ),
            (
                Wire::Chat,
                Provider::Compatible,
                json!({}),
                json!({"max_tokens": 9}),
            ),
            (
                Wire::Chat,
                Provider::Compatible,
                json!({"max_completion_tokens": 99}),
                json!({"max_completion_tokens": 9}),
            ),
            (
                Wire::Responses,
                Provider::OpenAi,
                json!({"max_output_tokens": 99}),
                json!({"max_output_tokens": 9}),
            ),
            (
                Wire::Messages,
                Provider::Anthropic,
                json!({"max_tokens": 99}),
                json!({"max_tokens": 9}),
            ),
            (
                Wire::Gemini,
                Provider::Gemini,
                json!({}),
                json!({"generationConfig": {"maxOutputTokens": 9}}),
            ),
        ] {
            let mut spec = spec(provider, "m");
            spec.wire = wire;
            let mut short = body;
            shorten(&spec, &mut short, 9);
            assert_eq!(short, expected, "{wire:?}");
            assert_eq!(longest(&spec, &short), 9, "{wire:?}");
        }
        assert_eq!(
            shortest(&json!({"thinking": {"budget_tokens": 1024}})),
            1_040
        );
    }
}
