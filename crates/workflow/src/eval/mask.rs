//! Keeps keys out of result files.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// What stands where a key was.
const MASK: &str = "**********";

/// Names of fields whose value nobody may see: these, and all that end in one of them.
const SECRET: &[&str] = &[
    "api_key",
    "apikey",
    "access_key",
    "access_key_id",
    "secret_key",
    "secret",
    "password",
    "authorization",
    "token",
];

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    SECRET.iter().any(|end| name.ends_with(end))
}

/// The same with asterisks for every text under a name that tells of a secret.
pub(super) fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(masked_fields(fields)),
        Value::Array(items) => items.iter().map(masked).collect(),
        other => other.clone(),
    }
}

fn masked_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let hide = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) if is_secret(name) && !text.is_empty() => Value::from(MASK),
            value => masked(value),
        };
        (name.clone(), value)
    };
    fields.iter().map(hide).collect()
}

pub(super) fn fields<S: Serializer>(
    fields: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    masked_fields(fields).serialize(serializer)
}

pub(super) fn optional<S: Serializer>(
    fields: &Option<Map<String, Value>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    fields.as_ref().map(masked_fields).serialize(serializer)
}
