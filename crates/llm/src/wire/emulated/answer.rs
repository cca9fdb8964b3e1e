//! Finds the JSON value in an answer and looks whether it obeys its schema, as far as models get it
//! wrong: types, required properties, the values that there are.

use serde_json::Value;

use super::calls::is;
use crate::wire::body::list;

/// So many places are tried as the beginning of the value.
const TRIES: usize = 16;
const DEEPEST: usize = 64;
/// Schemas that refer to themselves could go on for ever.
const STEPS: u32 = 200_000;

/// The value's text. The error says what is wrong with the answer.
pub(super) fn read(text: &str, schema: &Value) -> Result<String, String> {
    let mut wrong = None;
    for candidate in candidates(text) {
        let Ok(value) = serde_json::from_str::<Value>(candidate) else {
            continue;
        };
        let mut check = Check {
            root: schema,
            steps: STEPS,
        };
        match check.value(schema, &value, 0) {
            Ok(()) => return Ok(candidate.to_owned()),
            Err(why) => {
                wrong.get_or_insert(why);
            }
        }
    }
    Err(wrong.map_or_else(
        || "the answer holds no JSON value, though a schema was given".to_owned(),
        |why| format!("the answer does not obey its schema: {why}"),
    ))
}

/// The whole text, then the places where an object or a list could begin, the outermost first.
fn candidates(text: &str) -> Vec<&str> {
    let mut found = vec![text.trim()];
    let mut rest = text;
    for _ in 0..TRIES {
        let Some(from) = rest.find(['{', '[']).and_then(|at| rest.get(at..)) else {
            break;
        };
        // What has no end is passed over: perhaps what is in it has one.
        let end = end_of_value(from);
        found.extend(end.and_then(|end| from.get(..end)));
        rest = from.get(end.unwrap_or(1)..).unwrap_or_default();
    }
    found
}

/// Where the brackets that begin here are closed, strings left aside.
fn end_of_value(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

struct Check<'a> {
    root: &'a Value,
    steps: u32,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, depth: usize) -> Result<(), String> {
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0 || depth > DEEPEST {
            return Err("the schema is too deep to be checked".to_owned());
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let path = target.strip_prefix('#').unwrap_or(target);
            let target = self.root.pointer(path).cloned();
            return target.map_or(Ok(()), |target| self.value(&target, value, depth + 1));
        }
        kind(schema, value)?;
        if let Some(fixed) = schema.get("const")
            && fixed != value
        {
            return Err(format!("{} is not {fixed}", brief(value)));
        }
        let values = list(schema, "enum");
        if !values.is_empty() && !values.contains(value) {
            return Err(format!("{} is none of the values there are", brief(value)));
        }
        for key in ["anyOf", "oneOf"] {
            let options = list(schema, key);
            let fits = options
                .iter()
                .any(|option| self.value(option, value, depth + 1).is_ok());
            if !options.is_empty() && !fits {
                return Err(format!("{} fits none of the choices", brief(value)));
            }
        }
        for part in list(schema, "allOf") {
            self.value(part, value, depth + 1)?;
        }
        match value {
            Value::Object(object) => {
                for name in list(schema, "required").iter().filter_map(Value::as_str) {
                    if !object.contains_key(name) {
                        return Err(format!("`{name}` is missing"));
                    }
                }
                let properties = schema.get("properties").and_then(Value::as_object);
                for (name, value) in object {
                    match properties.and_then(|properties| properties.get(name)) {
                        Some(property) => self
                            .value(property, value, depth + 1)
                            .map_err(|why| format!("`{name}`: {why}"))?,
                        None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                            return Err(format!("`{name}` is not known"));
                        }
                        None => {}
                    }
                }
            }
            Value::Array(entries) => {
                if let Some(items) = schema.get("items") {
                    for entry in entries {
                        self.value(items, entry, depth + 1)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn kind(schema: &Value, value: &Value) -> Result<(), String> {
    let fits = match schema.get("type") {
        Some(Value::String(kind)) => is(kind, value),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .any(|kind| is(kind, value)),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        let wanted = schema.get("type").cloned().unwrap_or_default();
        Err(format!("{} is not of type {wanted}", brief(value)))
    }
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
