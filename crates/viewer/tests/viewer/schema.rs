//! As much of JSON Schema as the description uses. A word that is not known here fails the test, so that
//! nothing is passed over.

use serde_json::{Map, Value};

/// Words that say nothing about a value, or nothing that JSON could break.
const SAYS_NOTHING: &[&str] = &[
    "description",
    "title",
    "default",
    "examples",
    "format",
    "$schema",
    "$comment",
    "deprecated",
    "writeOnly",
    "readOnly",
];

/// What is wrong with `value`; the places are JSON pointers.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    Checker { document }.value(schema, value, "", &mut faults);
    faults
}

/// Every `$ref` of a document.
pub(crate) fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str).map(str::to_owned);
            own.into_iter()
                .chain(map.values().flat_map(references))
                .collect()
        }
        Value::Array(list) => list.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

struct Checker<'a> {
    document: &'a Value,
}

impl Checker<'_> {
    fn value(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let schema = match schema {
            Value::Bool(true) => return,
            Value::Object(schema) => schema,
            other => {
                faults.push(format!("{at}: nothing is allowed by {other}"));
                return;
            }
        };
        for (word, rule) in schema {
            self.word(schema, word, rule, value, at, faults);
        }
    }

    fn word(
        &self,
        schema: &Map<String, Value>,
        word: &str,
        rule: &Value,
        value: &Value,
        at: &str,
        faults: &mut Vec<String>,
    ) {
        let holds = |rule: &Value| {
            let mut found = Vec::new();
            self.value(rule, value, at, &mut found);
            found
        };
        let list = || rule.as_array().unwrap();
        match word {
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                let found = self.document.pointer(pointer);
                let found = found.unwrap_or_else(|| panic!("{rule} leads nowhere"));
                self.value(found, value, at, faults);
            }
            "type" if !is_of(rule, value) => faults.push(format!("{at}: {value} is no {rule}")),
            "const" if rule != value => faults.push(format!("{at}: {value} is not {rule}")),
            "enum" if !list().contains(value) => {
                faults.push(format!("{at}: {value} is none of {rule}"));
            }
            "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                faults.push(format!("{at}: {value} is under {rule}"));
            }
            "maximum" if value.as_f64() > rule.as_f64() && value.is_number() => {
                faults.push(format!("{at}: {value} is over {rule}"));
            }
            "allOf" => list().iter().for_each(|rule| faults.extend(holds(rule))),
            "anyOf" | "oneOf" => {
                let tried: Vec<_> = list().iter().map(holds).collect();
                let fitting = tried.iter().filter(|found| found.is_empty()).count();
                if fitting == 0 || (word == "oneOf" && fitting > 1) {
                    faults.push(format!("{at}: {fitting} of {word} fit: {tried:?}"));
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(part) = value.get(name) {
                        self.value(rule, part, &format!("{at}/{name}"), faults);
                    }
                }
            }
            "required" if value.is_object() => {
                let lacking = list().iter().filter_map(Value::as_str);
                for name in lacking.filter(|name| value.get(name).is_none()) {
                    faults.push(format!("{at}: {name} is missing"));
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, part) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        self.value(rule, part, &format!("{at}/{name}"), faults);
                    }
                }
            }
            "items" => {
                let fixed = schema.get("prefixItems").and_then(Value::as_array);
                let from = fixed.map_or(0, Vec::len);
                let items = value.as_array().into_iter().flatten().enumerate();
                for (n, item) in items.skip(from) {
                    self.value(rule, item, &format!("{at}/{n}"), faults);
                }
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (n, (rule, item)) in list().iter().zip(items).enumerate() {
                    self.value(rule, item, &format!("{at}/{n}"), faults);
                }
            }
            "minItems" | "maxItems" => {
                let count = value.as_array().map(|list| list.len() as u64);
                let bound = rule.as_u64();
                if count.is_some() && (count < bound) == (word == "minItems") && count != bound {
                    faults.push(format!("{at}: {count:?} items, {word} is {rule}"));
                }
            }
            "pattern" | "minLength" | "maxLength" => {
                if !(value.is_string() || value.is_null()) {
                    faults.push(format!("{at}: {value} is no text"));
                }
            }
            "type" | "const" | "enum" | "minimum" | "maximum" | "required" => {}
            other => assert!(
                SAYS_NOTHING.contains(&other),
                "{at}: `{other}` is not known"
            ),
        }
    }
}

fn is_of(rule: &Value, value: &Value) -> bool {
    match rule {
        Value::Array(rules) => rules.iter().any(|rule| is_of(rule, value)),
        Value::String(name) => match name.as_str() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("type {other} is not known"),
        },
        other => panic!("no type: {other}"),
    }
}
