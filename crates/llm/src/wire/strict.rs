//! Schemas in the strict form that OpenAI enforces: closed objects, every property required, what was
//! optional may be null instead. A reader of such answers takes null as left out.

use serde_json::{Map, Value, json};

/// Deeper schemas are sent as they are.
const DEEPEST: usize = 32;
/// The formats of strings that are understood; others are refused by the service.
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];
/// Keywords that say nothing that is enforced, or that are refused.
const DROPPED: [&str; 10] = [
    "$schema",
    "$id",
    "default",
    "examples",
    "minLength",
    "maxLength",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "deprecated",
];
/// Keywords whose meaning would be lost.
const BEYOND: [&str; 13] = [
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// `None`: the schema can't be said in the strict form (open maps, conditions, no object at the top).
pub(super) fn strict(schema: &Value) -> Option<Value> {
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    if !is_object || schema.get("anyOf").is_some() || schema.get("oneOf").is_some() {
        return None;
    }
    node(schema, 0)
}

fn node(schema: &Value, depth: usize) -> Option<Value> {
    let given = schema.as_object()?;
    if depth > DEEPEST || BEYOND.iter().any(|key| given.contains_key(*key)) {
        return None;
    }
    let mut made = Map::new();
    for (key, value) in given {
        match key.as_str() {
            key if DROPPED.contains(&key) => {}
            "format" => {
                if value
                    .as_str()
                    .is_some_and(|format| FORMATS.contains(&format))
                {
                    made.insert(key.clone(), value.clone());
                }
            }
            // Said again by `object`.
            "properties" | "required" | "additionalProperties" => {}
            "items" => {
                made.insert(key.clone(), node(value, depth + 1)?);
            }
            "anyOf" | "oneOf" => {
                let options = value
                    .as_array()?
                    .iter()
                    .map(|option| node(option, depth + 1));
                let options: Option<Vec<Value>> = options.collect();
                made.insert("anyOf".to_owned(), options?.into());
            }
            "$defs" | "definitions" => {
                let all = value.as_object()?.iter();
                let all = all.map(|(name, def)| Some((name.clone(), node(def, depth + 1)?)));
                made.insert(key.clone(), Value::Object(all.collect::<Option<_>>()?));
            }
            _ => {
                made.insert(key.clone(), value.clone());
            }
        }
    }
    if is_object(given) {
        object(given, &mut made, depth)?;
    }
    Some(Value::Object(made))
}

fn is_object(schema: &Map<String, Value>) -> bool {
    schema.contains_key("properties")
        || match schema.get("type") {
            Some(Value::String(kind)) => kind == "object",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
            _ => false,
        }
}

fn object(given: &Map<String, Value>, made: &mut Map<String, Value>, depth: usize) -> Option<()> {
    let closed = given.get("additionalProperties") == Some(&Value::Bool(false));
    let properties = match given.get("properties") {
        Some(properties) => properties.as_object()?,
        // An object of which nothing is known is a map.
        None if !closed => return None,
        None => &Map::new(),
    };
    if given
        .get("additionalProperties")
        .is_some_and(|more| !more.is_boolean() || more == true)
    {
        return None;
    }
    let needed = |name: &str| {
        let required = given.get("required").and_then(Value::as_array);
        required.is_some_and(|all| all.iter().any(|required| required == name))
    };
    let mut all = Map::new();
    for (name, schema) in properties {
        let schema = node(schema, depth + 1)?;
        let schema = if needed(name) {
            schema
        } else {
            nullable(schema)
        };
        all.insert(name.clone(), schema);
    }
    let names: Vec<Value> = all.keys().map(|name| name.as_str().into()).collect();
    made.insert("properties".to_owned(), all.into());
    made.insert("required".to_owned(), names.into());
    made.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

/// The same, or null.
fn nullable(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else {
        return schema;
    };
    if let Some(Value::Array(options)) = schema.get_mut("anyOf") {
        if !options
            .iter()
            .any(|option| option.get("type") == Some(&json!("null")))
        {
            options.push(json!({"type": "null"}));
        }
        return schema.into();
    }
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) if kind == "null" => return schema.into(),
        Some(Value::String(kind)) => vec![json!(kind), json!("null")],
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "null") => {
            return schema.into();
        }
        Some(Value::Array(kinds)) => kinds.iter().cloned().chain([json!("null")]).collect(),
        // A reference, a constant: what it says can't be widened in place.
        _ => return json!({"anyOf": [schema, {"type": "null"}]}),
    };
    schema.insert("type".to_owned(), kinds.into());
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_closed_and_everything_is_required() {
        let made = strict(&json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "score": {"type": "integer", "format": "int32", "minimum": -1},
                "why": {"type": "string", "default": "", "minLength": 1},
                "kind": {"type": "string", "enum": ["a", "b"]},
                "at": {"$ref": "#/$defs/point"},
                "path": {"type": "array", "items": {"$ref": "#/$defs/point"}, "minItems": 2},
            },
            "required": ["score", "path"],
            "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}}},
        }));
        assert_eq!(
            made,
            Some(json!({
                "type": "object",
                "properties": {
                    "score": {"type": "integer", "minimum": -1},
                    "why": {"type": ["string", "null"]},
                    "kind": {"type": ["string", "null"], "enum": ["a", "b", null]},
                    "at": {"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]},
                    "path": {"type": "array", "items": {"$ref": "#/$defs/point"}, "minItems": 2},
                },
                "required": ["at", "kind", "path", "score", "why"],
                "additionalProperties": false,
                "$defs": {"point": {
                    "type": "object",
                    "properties": {"x": {"type": ["number", "null"]}},
                    "required": ["x"],
                    "additionalProperties": false,
                }},
            }))
        );
    }

    #[test]
    fn a_strict_schema_stays_as_it_is() {
        let schema = json!({
            "type": "object",
            "properties": {"score": {"type": "number"}, "note": {"type": ["string", "null"]}},
            "required": ["note", "score"],
            "additionalProperties": false,
        });
        assert_eq!(strict(&schema), Some(schema));
    }

    #[test]
    fn what_has_no_strict_form_is_left_alone() {
        for schema in [
            json!({"type": "string"}),
            json!({"anyOf": []}),
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}, "properties": {}}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            json!({"type": "object", "properties": {"a": true}}),
            json!({"type": "object", "properties": {}, "allOf": []}),
            json!({"type": "object", "properties": {"a": {"not": {}}}}),
            json!(null),
        ] {
            assert_eq!(strict(&schema), None, "{schema}");
        }
        let deep = (0..40).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}),
        );
        assert_eq!(strict(&deep), None);
    }

    #[test]
    fn choices_between_schemas_may_be_left_out_too() {
        let made = strict(&json!({"type": "object", "properties": {
            "a": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        }}));
        let a = json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]});
        assert_eq!(made.unwrap().pointer("/properties/a"), Some(&a));
    }
}
