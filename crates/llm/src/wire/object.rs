//! Objects of values that are moved into them. `json!` copies what it is given, which is dear where a
//! picture is part of it.

use serde_json::{Map, Value};

pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    Value::Object(entries.collect::<Map<_, _>>())
}
