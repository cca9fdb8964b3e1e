//! A JSON Schema as a grammar that the answer can't leave. llama.cpp does the conversion; here a schema is
//! kept within bounds, and what the grammar would silently not enforce is named.

use serde_json::{Map, Value};

use crate::refusal::Refusal;

const DEEPEST: usize = 32;
const MOST_SCHEMAS: usize = 2_000;
const LONGEST_PATTERN: usize = 200;
/// Repetitions are written out in the grammar.
const MOST_REPETITIONS: u64 = 1_000;

const REPETITIONS: [&str; 4] = ["minItems", "maxItems", "minLength", "maxLength"];
/// Keywords that the grammar does not enforce.
const NOT_ENFORCED: [&str; 15] = [
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "dependentSchemas",
    "dependentRequired",
    "multipleOf",
    "minProperties",
    "maxProperties",
];
const FORMATS: [&str; 4] = ["date", "time", "date-time", "uuid"];
/// Enforced for whole numbers alone.
const OF_INTEGERS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/// The grammar, and the keywords that it does not enforce, with where they stand.
pub(crate) fn grammar(schema: &Value) -> Result<(String, Vec<String>), Refusal> {
    let mut walk = Walk::default();
    walk.schema(schema, "#", 0)?;
    let text = schema.to_string();
    let grammar = llama_cpp_2::json_schema_to_grammar(&text).map_err(|_| {
        Refusal::bad(
            "this JSON schema can't be made into a grammar: only type, enum, const, properties, required, \
             additionalProperties, items, prefixItems, anyOf, oneOf, allOf, $ref within the schema, \
             pattern (`^...$`), format (date, time, date-time, uuid), and limits of lengths, items and \
             integers are known",
        )
    })?;
    Ok((grammar, walk.not_enforced))
}

#[derive(Default)]
struct Walk {
    schemas: usize,
    not_enforced: Vec<String>,
}

impl Walk {
    fn schema(&mut self, schema: &Value, at: &str, depth: usize) -> Result<(), Refusal> {
        self.schemas += 1;
        if depth > DEEPEST || self.schemas > MOST_SCHEMAS {
            return Err(Refusal::bad(format!(
                "the JSON schema is too large: at most {DEEPEST} levels and {MOST_SCHEMAS} parts"
            )));
        }
        match schema {
            Value::Bool(_) => Ok(()),
            Value::Object(object) => self.object(object, at, depth),
            _ => Err(Refusal::bad(format!(
                "the JSON schema is wrong at {at}: neither an object nor a boolean"
            ))),
        }
    }

    fn object(
        &mut self,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), Refusal> {
        bounds(object, at)?;
        let whole = object.get("type").and_then(Value::as_str) == Some("integer");
        let odd = NOT_ENFORCED
            .iter()
            .chain(if whole { &[][..] } else { &OF_INTEGERS });
        for keyword in odd.filter(|keyword| object.contains_key(**keyword)) {
            self.not_enforced.push(format!("{at}/{keyword}"));
        }
        let text = |keyword: &str| object.get(keyword).and_then(Value::as_str);
        if text("pattern").is_some_and(|all| !all.starts_with('^') || !all.ends_with('$')) {
            self.not_enforced.push(format!("{at}/pattern"));
        }
        if text("format").is_some_and(|format| !FORMATS.contains(&format)) {
            self.not_enforced.push(format!("{at}/format"));
        }
        for (key, value) in object {
            match (key.as_str(), value) {
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    for (name, schema) in named {
                        self.schema(schema, &format!("{at}/{key}/{name}"), depth + 1)?;
                    }
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(several)) => {
                    for (index, schema) in several.iter().enumerate() {
                        self.schema(schema, &format!("{at}/{key}/{index}"), depth + 1)?;
                    }
                }
                ("items" | "additionalProperties", schema) => {
                    self.schema(schema, &format!("{at}/{key}"), depth + 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn bounds(object: &Map<String, Value>, at: &str) -> Result<(), Refusal> {
    if let Some(target) = object.get("$ref")
        && !target
            .as_str()
            .is_some_and(|target| target.starts_with('#'))
    {
        return Err(Refusal::bad(format!(
            "the JSON schema refers to another one at {at}/$ref; only `#...` is known"
        )));
    }
    for keyword in REPETITIONS {
        let many = |value: &Value| value.as_u64().is_none_or(|count| count > MOST_REPETITIONS);
        if object.get(keyword).is_some_and(many) {
            return Err(Refusal::bad(format!(
                "the JSON schema asks for too much at {at}/{keyword}: a whole number up to \
                 {MOST_REPETITIONS} is known"
            )));
        }
    }
    let long = |pattern: &Value| {
        pattern
            .as_str()
            .is_none_or(|text| text.len() > LONGEST_PATTERN)
    };
    if object.get("pattern").is_some_and(long) {
        return Err(Refusal::bad(format!(
            "the pattern at {at}/pattern is longer than {LONGEST_PATTERN} bytes"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_becomes_a_grammar() {
        let schema = json!({"type": "object", "properties": {"score": {"type": "integer"}},
            "required": ["score"], "additionalProperties": false});
        let (grammar, not_enforced) = grammar(&schema).unwrap();
        assert!(grammar.contains("root ::="), "{grammar}");
        assert!(grammar.contains("score"), "{grammar}");
        assert_eq!(not_enforced, Vec::<String>::new());
    }

    #[test]
    fn what_is_not_enforced_is_named() {
        let schema = json!({"type": "object", "properties": {
            "minimum": {"type": "number", "minimum": 0}, "count": {"type": "integer", "minimum": 1},
            "free": {"type": "string", "pattern": "a"}, "when": {"type": "string", "format": "date"},
            "mail": {"type": "string", "format": "email"}, "list": {"type": "array", "items": {"not": {}}, "uniqueItems": true}}});
        let (_, not_enforced) = grammar(&schema).unwrap();
        assert_eq!(
            not_enforced,
            [
                "#/properties/free/pattern",
                "#/properties/list/uniqueItems",
                "#/properties/list/items/not",
                "#/properties/mail/format",
                "#/properties/minimum/minimum",
            ]
        );
    }

    #[test]
    fn hostile_schemas_are_refused() {
        let deep = (0..100).fold(json!({}), |inner, _| json!({"items": inner}));
        let wide: Vec<Value> = vec![json!({"type": "string"}); 3_000];
        for (schema, named) in [
            (deep, "too large"),
            (json!({"anyOf": wide}), "too large"),
            (
                json!({"type": "string", "maxLength": 1_000_000_000}),
                "#/maxLength",
            ),
            (json!({"type": "array", "minItems": -1}), "#/minItems"),
            (json!({"$ref": "https://example.org/schema"}), "$ref"),
            (
                json!({"type": "string", "pattern": "(".repeat(5_000)}),
                "#/pattern",
            ),
            (json!({"type": "unheard-of"}), "can't be made"),
            (json!({"items": 3}), "#/items"),
            (json!("text"), "neither"),
        ] {
            let refusal = grammar(&schema).unwrap_err();
            assert!(refusal.to_string().contains(named), "{named}: {refusal}");
            assert_eq!(refusal.status, 400);
        }
    }
}
