//! Keys: a type that never prints and never serialises, and the scrubber that takes keys out of any text
//! before it is shown, recorded or logged.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};

/// Shown instead of a key.
pub(crate) const HIDDEN: &str = "[key]";
/// Shorter ones would blot out ordinary words.
const SHORTEST: usize = 6;
/// Shorter ones of nothing but letters are such words themselves.
const LONGER_THAN_WORDS: usize = 12;
/// What is written where a service takes any key; it opens nothing.
const DUMMIES: &[&str] = &[
    "anything",
    "changeme",
    "dummy-key",
    "fake-key",
    "lm-studio",
    "no-key",
    "no-key-required",
    "not-needed",
    "not-required",
    "placeholder",
    "sk-no-key-required",
    "token-abc123",
];

#[derive(Clone, PartialEq, Eq)]
pub struct Key(Arc<str>);

impl Key {
    /// From here on every text that goes through the scrubber is free of it.
    pub fn new(text: &str) -> Self {
        Scrubber::learn(text);
        Self(text.into())
    }

    /// For the header of a request, and nothing else.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Knows all keys of this process.
#[derive(Debug)]
pub struct Scrubber;

fn known() -> &'static Mutex<Vec<String>> {
    static KNOWN: OnceLock<Mutex<Vec<String>>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

/// All of them, the longest first.
pub(crate) fn known_keys() -> Vec<String> {
    let keys = known().lock().unwrap_or_else(PoisonError::into_inner);
    keys.clone()
}

impl Scrubber {
    fn learn(text: &str) {
        let mut keys = known().lock().unwrap_or_else(PoisonError::into_inner);
        if is_secret(text) && !keys.iter().any(|key| key == text) {
            keys.push(text.to_owned());
            // A key that holds another one goes first.
            keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
        }
    }

    /// Whether there is anything to scrub.
    pub fn finds(text: &str) -> bool {
        let keys = known().lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().any(|key| text.contains(key.as_str()))
    }

    /// A body without any key: nearly always the body itself.
    pub fn clean(body: &Value) -> Cow<'_, Value> {
        if holds_key(body) {
            Cow::Owned(scrub(body))
        } else {
            Cow::Borrowed(body)
        }
    }

    /// The text without any key, if it holds one. For texts that are JSON: a key holds nothing that JSON
    /// would write differently.
    pub fn scrubbed(text: &str) -> Option<String> {
        Self::finds(text).then(|| Self::scrub(text))
    }

    pub fn scrub(text: &str) -> String {
        let keys = known().lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().fold(text.to_owned(), |text, key| {
            if text.contains(key.as_str()) {
                text.replace(key.as_str(), HIDDEN)
            } else {
                text
            }
        })
    }
}

/// Whether it can be a key at all: `ollama` is none.
fn is_secret(text: &str) -> bool {
    let word = text.len() < LONGER_THAN_WORDS && text.chars().all(char::is_alphabetic);
    let dummy = || DUMMIES.iter().any(|dummy| text.eq_ignore_ascii_case(dummy));
    text.len() >= SHORTEST && !word && !dummy()
}

fn holds_key(value: &Value) -> bool {
    match value {
        Value::String(text) => Scrubber::finds(text),
        Value::Array(items) => items.iter().any(holds_key),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| Scrubber::finds(name) || holds_key(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn scrub(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(Scrubber::scrub(text)),
        Value::Array(items) => items.iter().map(scrub).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| (Scrubber::scrub(name), scrub(value)))
                .collect::<Map<_, _>>(),
        ),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_does_not_print_and_is_taken_out_of_texts() {
        let key = Key::new("sk-test-0123456789");
        assert_eq!(format!("{key:?}"), "Key(..)");
        let text = Scrubber::scrub("no such key: sk-test-0123456789!");
        assert_eq!(text, "no such key: [key]!");
    }

    #[test]
    fn what_opens_nothing_blots_out_nothing() {
        for text in ["ollama", "EMPTY", "none", "LM-Studio", "sk-no-key-required"] {
            Key::new(text);
            assert!(!Scrubber::finds(text), "{text}");
        }
        for text in ["hunter2-x", "abcdefghijklmn", "sk-1234"] {
            Key::new(text);
            assert_eq!(Scrubber::scrub(text), "[key]");
        }
    }

    #[test]
    fn keys_of_services_are_taken_out_wherever_they_are() {
        let secret = "sk-key-in-body-1234";
        Key::new(secret);
        let body = json!({ "a": [{ "b": format!("Bearer {secret}") }], secret: 1, "c": 2 });
        let clean = Scrubber::clean(&body);
        assert!(!clean.to_string().contains(secret));
        assert_eq!(clean["a"][0]["b"], "Bearer [key]");
        let plain = json!({ "a": "b" });
        assert!(matches!(Scrubber::clean(&plain), Cow::Borrowed(_)));
    }
}
