//! The one JSON object that the model answers with: its schema, and how it is read. Models that are not held
//! to the schema write it in many ways; all that can have only one meaning are taken.

use serde_json::{Value, json};

use crate::dialect::embedded::objects;
use crate::dialect::react::Offer;

/// What was thought and what is wanted; `None` where there is nothing of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Read {
    pub(super) thought: Option<String>,
    pub(super) call: Option<Value>,
}

/// Properties are written in the order of the alphabet, and models answer in that order: so the action is
/// called `tool`, and comes after what was thought of it.
pub(super) fn schema(offers: &[Offer]) -> Value {
    let names: Vec<&str> = offers.iter().map(Offer::name).collect();
    let text = || json!({"type": "string"});
    let mut parameters = json!({
        "button": {"type": "string", "enum": ["left", "middle", "right"]},
        "clicks": {"type": "integer"},
        "key": text(),
        "keys": {"type": "array", "items": text()},
        "seconds": {"type": "number"},
        "text": text(),
        "value": text(),
        "x": {"type": "integer"},
        "y": {"type": "integer"},
    });
    if names.contains(&"exec") {
        parameters["command"] = text();
    }
    json!({
        "type": "object",
        "properties": {
            "observation": text(),
            "plan": text(),
            "reflection": text(),
            "tool": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "enum": names},
                    "parameters": {
                        "type": "object",
                        "properties": parameters,
                        "required": [],
                        "additionalProperties": false,
                    },
                },
                "required": ["name", "parameters"],
                "additionalProperties": false,
            },
        },
        "required": ["observation", "plan", "tool"],
        "additionalProperties": false,
    })
}

/// The first object that holds an action.
pub(super) fn read(text: &str) -> Read {
    let found = objects(text);
    let with_action = found
        .iter()
        .find_map(|found| Some((call(&found.value)?, &found.value)));
    match with_action {
        Some((call, answer)) => Read {
            thought: thought(answer),
            call: Some(call),
        },
        None => Read {
            thought: found.iter().find_map(|found| thought(&found.value)),
            call: None,
        },
    }
}

fn call(answer: &Value) -> Option<Value> {
    let named = |value: &Value| value.get("name").is_some_and(Value::is_string);
    match answer.get("tool").or_else(|| answer.get("action")) {
        Some(call) if named(call) => Some(call.clone()),
        Some(Value::String(name)) => {
            let apart = answer.get("parameters").filter(|given| given.is_object());
            Some(json!({"name": name, "parameters": apart.unwrap_or(answer)}))
        }
        Some(_) => None,
        None => named(answer).then(|| answer.clone()),
    }
}

fn thought(answer: &Value) -> Option<String> {
    let names = ["reflection", "observation", "plan", "thought"];
    let said = names.iter().filter_map(|name| answer.get(name)?.as_str());
    let said: Vec<&str> = said
        .map(str::trim)
        .filter(|said| !said.is_empty())
        .collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::react::OFFERS;

    #[test]
    fn one_meaning_has_many_forms() {
        let click = json!({"name": "click", "parameters": {"x": 1, "y": 2}});
        for text in [
            r#"{"observation": "a", "plan": "b", "tool": {"name": "click", "parameters": {"x": 1, "y": 2}}}"#,
            r#"{"observation": "a", "plan": "b", "action": {"name": "click", "parameters": {"x": 1, "y": 2}}}"#,
            "Sure:\n```json\n{\"observation\": \"a\", \"plan\": \"b\", \"action\": \"click\", \
             \"parameters\": {\"x\": 1, \"y\": 2}}\n```",
        ] {
            let read = read(text);
            assert_eq!(read.call, Some(click.clone()), "{text}");
            assert_eq!(read.thought.as_deref(), Some("a\nb"), "{text}");
        }
        let flat = read(r#"{"action": "click", "x": 1, "y": 2}"#).call.unwrap();
        assert_eq!(
            (&flat["name"], &flat["parameters"]["y"]),
            (&json!("click"), &json!(2))
        );
        let bare = r#"{"name": "click", "parameters": {"x": 1, "y": 2}}"#;
        assert_eq!(read(bare).call, Some(click));
    }

    #[test]
    fn without_an_action_there_is_none() {
        for text in [
            "",
            "I click.",
            r#"{"x": 1}"#,
            r#"{"action": 5}"#,
            "{\"action\": {",
        ] {
            assert_eq!(read(text).call, None, "{text}");
        }
        let thinking = read(r#"{"plan": "look first"}"#);
        assert_eq!(thinking.thought.as_deref(), Some("look first"));
    }

    #[test]
    fn the_schema_names_what_is_offered_and_the_action_comes_last() {
        let schema = schema(&OFFERS[..2]);
        let names = &schema["properties"]["tool"]["properties"]["name"]["enum"];
        assert_eq!(names, &json!(["click", "double_click"]));
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(
            properties.keys().next_back().map(String::as_str),
            Some("tool")
        );
        let parameters = &schema["properties"]["tool"]["properties"]["parameters"]["properties"];
        assert!(parameters.get("command").is_none());
        assert!(!format!("{schema}").contains("exec"));
    }
}
