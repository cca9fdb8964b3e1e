//! What a client has said, for whoever looks at it: whether it is anything, and as much of it as fits into a
//! message.

use serde_json::Value;

/// Of a client's own words in a message to it.
const MOST_SHOWN: usize = 64;

/// A key with this is as good as none.
pub(super) fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

pub(super) fn cut(words: &str) -> String {
    let mut shown: String = words.chars().take(MOST_SHOWN).collect();
    if shown.len() < words.len() {
        shown.push_str("...");
    }
    shown
}
