//! Keeps keys out of result files.

use std::io;

use agon_llm::{Key, Scrubber};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::metadata::EvalMetadata;
use super::output::EvalOutput;
use crate::events::History;

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
        Value::String(text) => Value::from(without_logins(text)),
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

/// The text with asterisks for names and passwords in addresses.
fn without_logins(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        shown += before;
        let ends =
            |c: char| matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>') || c.is_whitespace();
        let host = after.find(ends).unwrap_or(after.len());
        let login = after.get(..host).and_then(|host| host.rfind('@'));
        if login.is_some() {
            shown += MASK;
        }
        rest = after.get(login.unwrap_or(0)..).unwrap_or_default();
    }
    shown + rest
}

/// A row as it is written. Keys that are known are nowhere in it, whoever brought them there: an error of a
/// service, or an agent that came by one.
pub(super) fn row(row: &EvalOutput) -> io::Result<Vec<u8>> {
    if let Some(metadata) = &row.metadata {
        learn(metadata);
    }
    let text = serde_json::to_string(row)?;
    let error = row.error.as_deref().map(without_logins);
    if error == row.error && !Scrubber::finds(&text) {
        return Ok(text.into_bytes());
    }
    let clean = |fields: &Map<String, Value>| match &*Scrubber::clean(&fields.clone().into()) {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    let history = row.history.as_ref().map(|history| {
        let events = serde_json::to_value(history)?;
        serde_json::from_value::<History>(Scrubber::clean(&events).into_owned())
    });
    let row = EvalOutput {
        test_result: clean(&row.test_result),
        instruction: row.instruction.as_deref().map(Scrubber::scrub),
        history: history.transpose()?,
        error: error.as_deref().map(Scrubber::scrub),
        instance: row.instance.as_ref().map(clean),
        ..row.clone()
    };
    Ok(serde_json::to_vec(&row)?)
}

/// Keys that a program put into its metadata are keys like others.
fn learn(metadata: &EvalMetadata) {
    let others = [
        &metadata.agent_config,
        &metadata.details,
        &metadata.condenser_config,
    ];
    let all = others.into_iter().flatten().chain([&metadata.llm_config]);
    for (name, value) in all.flatten() {
        if let Some(text) = value
            .as_str()
            .filter(|text| is_secret(name) && *text != MASK)
        {
            Key::new(text);
        }
    }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use agon_core::EventBody;
    use serde_json::json;

    use super::*;
    use crate::dialect::tests::{conversation, recorded};
    use crate::eval::{OutputWriter, read_output};

    #[test]
    fn no_known_key_and_no_login_is_written() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("output.jsonl");
        let llm = json!({
            "model": "gpt-4o",
            "api_key": "sk-rows-0123456789",
            "base_url": "https://me:pa55word@host.example/v1?a@b",
        });
        let mut row: EvalOutput =
            serde_json::from_value(json!({ "instance_id": "a", "test_result": {} })).unwrap();
        row.metadata = Some(EvalMetadata {
            llm_config: llm.as_object().cloned().unwrap(),
            ..EvalMetadata::default()
        });
        row.instruction = Some("use sk-rows-0123456789".to_owned());
        row.error = Some("401 at http://me:pa55word@host.example/: sk-rows-0123456789".to_owned());
        row.instance = json!({ "x": ["sk-rows-0123456789"] }).as_object().cloned();
        let mut said = conversation();
        if let EventBody::Observation(seen) = &mut said[6].body {
            seen.text = "KEY=sk-rows-0123456789".to_owned();
        }
        row.history = Some(History::Flat(crate::dialect::history(&recorded(&said))));
        OutputWriter::open(&path).unwrap().append(&row).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("sk-rows-0123456789"), "{text}");
        assert!(!text.contains("pa55word"), "{text}");
        assert!(text.contains("https://**********@host.example/v1?a@b"));
        assert!(text.contains("KEY=[key]"));
        let back = read_output(&path).unwrap();
        let history = |row: &EvalOutput| match &row.history {
            Some(History::Flat(events)) => events.len(),
            _ => 0,
        };
        assert_eq!(history(&back[0]), history(&row));
    }
}
