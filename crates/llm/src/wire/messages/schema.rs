//! JSON schemas as this API enforces them: closed objects, and no limits of numbers and lengths, which
//! it refuses. What it does not enforce is put into words instead.

use serde_json::{Map, Value};

/// Refused with status 400.
const REFUSED: [&str; 12] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "maxContains",
];

pub(super) fn enforced(schema: &Value) -> Value {
    let Value::Object(schema) = schema else {
        return schema.clone();
    };
    let mut out = Map::new();
    let mut words = Vec::new();
    for (key, value) in schema {
        let kept = match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(named)) => Value::Object(
                named
                    .iter()
                    .map(|(name, schema)| (name.clone(), enforced(schema)))
                    .collect(),
            ),
            ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                Value::Array(schemas.iter().map(enforced).collect())
            }
            ("items" | "not", _) => enforced(value),
            ("minItems", _) if value.as_u64().is_none_or(|least| least > 1) => {
                words.push(format!("{key}: {value}"));
                continue;
            }
            (key, _) if REFUSED.contains(&key) => {
                words.push(format!("{key}: {value}"));
                continue;
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), kept);
    }
    let is_object = match &schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => schema.contains_key("properties"),
    };
    if is_object {
        out.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if !words.is_empty() {
        let said = out.get("description").and_then(Value::as_str).unwrap_or("");
        let said = format!("{said} ({})", words.join(", "));
        out.insert("description".to_owned(), said.trim_start().into());
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_and_limits_become_words() {
        let schema = json!({
            "type": "object",
            "properties": {
                "score": {"type": "number", "minimum": 0, "maximum": 1, "description": "How good."},
                "minimum": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "properties": {"a": {"type": "string", "maxLength": 3}},
                }},
            },
            "required": ["score"],
        });
        let expected = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "score": {"type": "number", "description": "How good. (maximum: 1, minimum: 0)"},
                "minimum": {"type": "array", "minItems": 1, "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {"a": {"type": "string", "description": "(maxLength: 3)"}},
                }},
            },
            "required": ["score"],
        });
        assert_eq!(enforced(&schema), expected);
        assert_eq!(enforced(&json!(true)), json!(true));
    }
}
