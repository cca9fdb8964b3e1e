//! Parameters that a model does not take. A refusal that names one can be answered by asking again
//! without it; what was learnt is kept for the model, so that the next request is taken at once. A value
//! that is not taken says nothing about others, and is not kept.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// What a model was found not to take.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    remedies: Mutex<Vec<Remedy>>,
    answered: AtomicBool,
}

impl Learnt {
    /// It has answered.
    pub(super) fn answer(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// Whether it ever did: then it is there, and takes our key.
    pub(super) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, remedy: Remedy) {
        let mut all = self.remedies.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&remedy) {
            all.push(remedy);
        }
    }

    /// Changes a body to what the model takes.
    pub(super) fn apply(&self, body: &mut Value) {
        let all = self.remedies.lock().unwrap_or_else(PoisonError::into_inner);
        for remedy in all.iter() {
            remedy.apply(body);
        }
    }
}

/// What a refusal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) remedy: Remedy,
    /// It is about the parameter, and not about its value or what else is there.
    pub(super) always: bool,
}

/// How to make a body acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    Without(&'static str),
    /// The same value under another name.
    Renamed(&'static str, &'static str),
}

/// What can be left out without changing what is asked, with the names that services have for it.
const OPTIONAL: [(&str, &[&str]); 9] = [
    ("temperature", &["temperature"]),
    ("top_p", &["top_p", "topP"]),
    ("top_k", &["top_k", "topK"]),
    ("seed", &["seed"]),
    ("stop", &["stop", "stop_sequences", "stopSequences"]),
    (
        "frequency_penalty",
        &["frequency_penalty", "frequencyPenalty"],
    ),
    ("presence_penalty", &["presence_penalty", "presencePenalty"]),
    ("parallel_tool_calls", &["parallel_tool_calls"]),
    (
        "reasoning_effort",
        &["reasoning_effort", "reasoning", "reasoning.effort"],
    ),
];

/// Words of a refusal that is about a parameter, and not about its value's form.
const UNKNOWN: [&str; 11] = [
    "unsupported",
    "not supported",
    "does not support",
    "doesn't support",
    "unrecognized",
    "unknown name",
    "unknown parameter",
    "not permitted",
    "deprecated",
    "cannot both be",
    "unexpected keyword",
];

/// Words of one that is about a value, or about two parameters together.
const AT_TIMES: [&str; 3] = ["unsupported value", "unsupported_value", "cannot both be"];

/// The remedy that the body of a refusal asks for.
pub(super) fn named(body: &[u8]) -> Option<Asked> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let value = value
        .as_array()
        .and_then(|all| all.first())
        .unwrap_or(&value);
    let error = value
        .get("error")
        .filter(|error| error.is_object())
        .unwrap_or(value);
    let message = error.get("message").or_else(|| error.get("detail"))?;
    let message = message
        .as_str()
        .map_or_else(|| message.to_string(), str::to_owned);
    let lower = message.to_ascii_lowercase();
    let renamed = Remedy::Renamed("max_tokens", "max_completion_tokens");
    if names(&lower, "max_tokens") && names(&lower, "max_completion_tokens") {
        return Some(Asked {
            remedy: renamed,
            always: true,
        });
    }
    if !UNKNOWN.iter().any(|words| lower.contains(words)) {
        return None;
    }
    let param = error.get("param").and_then(Value::as_str);
    let by_param = OPTIONAL
        .iter()
        .find(|(_, all)| param.is_some_and(|param| all.contains(&param)));
    // Of two that do not go together, the second is left out.
    let last = |all: &&[&str]| all.iter().filter_map(|name| place(&message, name)).max();
    let by_words = || {
        let placed = OPTIONAL.iter().filter_map(|one| Some((last(&one.1)?, one)));
        placed.max_by_key(|(place, _)| *place).map(|(_, one)| one)
    };
    let (name, _) = by_param.or_else(by_words)?;
    let code = error.get("code").and_then(Value::as_str).unwrap_or("");
    Some(Asked {
        remedy: Remedy::Without(name),
        always: !AT_TIMES
            .iter()
            .any(|words| lower.contains(words) || code == *words),
    })
}

/// Where the message has this name, as a word of its own.
fn place(message: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    message.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = message[..*at].chars().next_back();
        let after = message[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn names(message: &str, name: &str) -> bool {
    place(message, name).is_some()
}

impl Remedy {
    /// Whether it changed anything.
    pub(super) fn apply(self, body: &mut Value) -> bool {
        let Some(body) = body.as_object_mut() else {
            return false;
        };
        match self {
            Self::Renamed(from, to) => {
                let Some(value) = body.remove(from) else {
                    return false;
                };
                body.insert(to.to_owned(), value);
                true
            }
            Self::Without(name) => {
                let all = OPTIONAL.iter().find(|(key, _)| *key == name);
                let mut changed = false;
                for name in all.map_or(&[][..], |(_, all)| all) {
                    changed |= body.remove(*name).is_some();
                    // Gemini has them one level down.
                    if let Some(inner) = body
                        .get_mut("generationConfig")
                        .and_then(Value::as_object_mut)
                    {
                        changed |= inner.remove(*name).is_some();
                    }
                }
                changed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(body: Value) -> Option<Remedy> {
        named(body.to_string().as_bytes()).map(|asked| asked.remedy)
    }

    #[test]
    fn a_value_says_nothing_about_others() {
        let always = |message: &str, code: &str| {
            let body = json!({"error": {"message": message, "code": code}});
            named(body.to_string().as_bytes()).unwrap().always
        };
        assert!(always(
            "Unsupported parameter: 'top_p' is not supported",
            "unsupported_parameter"
        ));
        assert!(!always(
            "'temperature' does not support 0.0 with this model",
            "unsupported_value"
        ));
        assert!(!always("Unsupported value: 'reasoning_effort'", ""));
        assert!(!always(
            "`temperature` and `top_p` cannot both be specified",
            ""
        ));
    }

    #[test]
    fn refusals_of_services() {
        let openai = json!({"error": {"message": "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}});
        assert_eq!(of(openai), Some(Remedy::Without("temperature")));
        let tokens = json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens", "code": "unsupported_parameter"}});
        assert_eq!(
            of(tokens),
            Some(Remedy::Renamed("max_tokens", "max_completion_tokens"))
        );
        let anthropic = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` and `top_p` cannot both be specified for this model. Please use only one."}});
        assert_eq!(of(anthropic), Some(Remedy::Without("top_p")));
        let gemini = json!({"error": {"code": 400, "message": "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field.", "status": "INVALID_ARGUMENT"}});
        assert_eq!(of(gemini), Some(Remedy::Without("seed")));
        let effort = json!({"error": {"message": "Unsupported parameter: 'reasoning.effort' is not supported with this model.", "param": "reasoning.effort"}});
        assert_eq!(of(effort), Some(Remedy::Without("reasoning_effort")));
    }

    #[test]
    fn other_refusals_have_no_remedy() {
        for message in [
            "temperature: Input should be less than or equal to 1",
            "this model does not support images",
            "Unsupported parameter: 'messages' is not supported",
            "the temperatures are not supported",
        ] {
            assert_eq!(
                of(json!({"error": {"message": message}})),
                None,
                "{message}"
            );
        }
        assert_eq!(named(b"<html>"), None);
    }

    #[test]
    fn bodies_are_changed_where_the_name_stands() {
        let mut body = json!({"model": "m", "temperature": 0, "stop": ["x"]});
        assert!(Remedy::Without("temperature").apply(&mut body));
        assert!(!Remedy::Without("temperature").apply(&mut body));
        assert_eq!(body, json!({"model": "m", "stop": ["x"]}));
        let mut body = json!({"generationConfig": {"topP": 1, "topK": 2}});
        assert!(Remedy::Without("top_p").apply(&mut body));
        assert_eq!(body, json!({"generationConfig": {"topK": 2}}));
        let mut body = json!({"max_tokens": 5});
        assert!(Remedy::Renamed("max_tokens", "max_completion_tokens").apply(&mut body));
        assert_eq!(body, json!({"max_completion_tokens": 5}));
    }
}
