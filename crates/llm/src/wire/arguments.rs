//! The arguments of a tool call, which OpenAI's forms carry as text.

use serde_json::{Map, Value};

/// What is no JSON stays text, so that the tool can say so to the model: a model that writes broken JSON
/// is no broken service.
pub(super) fn read(given: Option<&Value>) -> Value {
    match given {
        Some(Value::String(text)) if text.trim().is_empty() => Map::new().into(),
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
        }
        Some(Value::Null) | None => Map::new().into(),
        // Some services give the object itself.
        Some(other) => other.clone(),
    }
}

pub(super) fn write(input: &Value) -> String {
    match input {
        Value::String(broken) => broken.clone(),
        input => input.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_survive_both_ways_even_if_they_are_broken() {
        for text in ["{\"a\":1}", "{\"a\":", "not json"] {
            assert_eq!(write(&read(Some(&json!(text)))), text);
        }
        assert_eq!(read(Some(&json!(" "))), json!({}));
        assert_eq!(read(None), json!({}));
        assert_eq!(read(Some(&json!({"a": 1}))), json!({"a": 1}));
    }
}
