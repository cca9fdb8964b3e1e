//! Reads calls out of the text of a model. The text is hostile: nothing is evaluated, every position is
//! looked at a bounded number of times, and what is no call stays text.

use serde_json::{Map, Value};

use super::emulation::Function;
use crate::wire::body::list;

const OPEN: &str = "<function=";
/// Without its end, so that it stops the model before anything else can follow.
pub(super) const STOP_WORD: &str = "</function";
const PARAMETER: &str = "<parameter=";
const END_PARAMETER: &str = "</parameter>";
/// Longer names are no names.
const LONGEST_NAME: usize = 128;
/// More calls in one answer are no answer.
const MOST: usize = 256;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// What stands around the calls.
    pub(super) text: String,
    pub(super) calls: Vec<(String, Value)>,
    /// Whether the last call has its end.
    pub(super) closed: bool,
}

pub(super) fn read(text: &str, functions: &[Function]) -> Found {
    let mut found = Found {
        closed: true,
        ..Found::default()
    };
    let mut scan = Scan::new(text);
    while found.calls.len() < MOST {
        let Some(at) = scan.find(OPEN) else {
            break;
        };
        let before = scan.rest.get(..at).unwrap_or_default();
        let after = scan.rest.get(at + OPEN.len()..).unwrap_or_default();
        let Some((name, length)) = name(after) else {
            // No call: it stays text.
            let kept = at + OPEN.len();
            found
                .text
                .push_str(scan.rest.get(..kept).unwrap_or_default());
            scan.skip(kept);
            continue;
        };
        found.text.push_str(before);
        let name = name.to_owned();
        scan.skip(at + OPEN.len() + length);
        let function = functions.iter().find(|function| function.name == name);
        let schema = function.map(|function| &function.parameters);
        let (input, closed) = scan.body(schema);
        found.calls.push((name, input));
        found.closed = closed;
    }
    found.text.push_str(scan.rest);
    if !found.calls.is_empty() {
        // Some models were taught to wrap their calls.
        let text = found
            .text
            .replace("<tool_call>", "")
            .replace("</tool_call>", "");
        text.trim().clone_into(&mut found.text);
    }
    found
}

/// A name up to its `>`, and how much of the text that is.
fn name(text: &str) -> Option<(&str, usize)> {
    let (end, _) = text
        .char_indices()
        .take(LONGEST_NAME)
        .find(|(_, c)| *c == '>')?;
    let name = text.get(..end)?.trim();
    let usual = |c: char| c.is_alphanumeric() || "_-.:$".contains(c);
    (!name.is_empty() && name.chars().all(usual)).then_some((name, end + 1))
}

/// The text that is not read yet. A word that is not in it will not be in any shorter rest, which keeps
/// the time linear however often it is looked for.
struct Scan<'a> {
    rest: &'a str,
    missing: Vec<&'static str>,
}

impl<'a> Scan<'a> {
    fn new(rest: &'a str) -> Self {
        let missing = Vec::new();
        Self { rest, missing }
    }

    fn find(&mut self, word: &'static str) -> Option<usize> {
        if self.missing.contains(&word) {
            return None;
        }
        let at = self.rest.find(word);
        if at.is_none() {
            self.missing.push(word);
        }
        at
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Everything after the name: parameters, or one JSON object, up to the end of the call.
    fn body(&mut self, schema: Option<&Value>) -> (Value, bool) {
        let mut input = Map::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with(STOP_WORD) {
                self.end();
                return (input.into(), true);
            }
            let Some(after) = self.rest.strip_prefix(PARAMETER) else {
                break;
            };
            let Some((name, length)) = name(after) else {
                break;
            };
            let name = name.to_owned();
            self.skip(PARAMETER.len() + length);
            let value = self.value();
            let property = schema.and_then(|schema| schema.get("properties")?.get(&name));
            input.insert(name, convert(value, property));
        }
        // Neither parameter nor end: words, or an object instead of parameters.
        let at = self.find(STOP_WORD);
        let words = self.take(at.unwrap_or(self.rest.len())).trim();
        if at.is_some() {
            self.end();
        }
        if let (true, Ok(Value::Object(object))) = (input.is_empty(), serde_json::from_str(words)) {
            input = object;
        }
        (input.into(), at.is_some())
    }

    /// Over `</function>`, of which a stop word may have taken the end.
    fn end(&mut self) {
        self.skip(STOP_WORD.len());
        self.rest = self.rest.strip_prefix('>').unwrap_or(self.rest);
    }

    /// Up to the end of a parameter; if it has none, to that of the call.
    fn value(&mut self) -> &'a str {
        let value = match self.find(END_PARAMETER) {
            Some(at) => {
                let value = self.take(at);
                self.skip(END_PARAMETER.len());
                value
            }
            None => {
                let at = self.find(STOP_WORD).unwrap_or(self.rest.len());
                self.take(at)
            }
        };
        let value = value
            .strip_prefix("\r\n")
            .or_else(|| value.strip_prefix('\n'))
            .unwrap_or(value);
        value
            .strip_suffix("\r\n")
            .or_else(|| value.strip_suffix('\n'))
            .unwrap_or(value)
    }
}

/// By the type that the parameter shall have; what does not fit stays text, and the tool says so.
fn convert(value: &str, property: Option<&Value>) -> Value {
    let kinds: Vec<&str> = match property.and_then(|property| property.get("type")) {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(_)) => {
            let kinds = property.map_or(&[][..], |property| list(property, "type"));
            kinds.iter().filter_map(Value::as_str).collect()
        }
        // A schema without a type: JSON where it is some. Without any schema: text.
        _ if property.is_some() => {
            return serde_json::from_str(value).unwrap_or_else(|_| value.into());
        }
        _ => return value.into(),
    };
    let parsed = serde_json::from_str(value.trim()).ok();
    let parsed = parsed.or_else(|| match value.trim() {
        "True" => Some(Value::Bool(true)),
        "False" => Some(Value::Bool(false)),
        _ => None,
    });
    let fits = |parsed: &Value| {
        kinds
            .iter()
            .any(|kind| *kind != "string" && is(kind, parsed))
    };
    parsed.filter(fits).unwrap_or_else(|| value.into())
}

/// Whether a value is of a type of JSON Schema.
pub(super) fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}
