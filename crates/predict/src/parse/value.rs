//! What was read: values with the place where they stood, before anybody asks what they mean.

use serde_json::{Map, Number};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// Bytes from the start of the text.
    pub(super) at: usize,
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// Always finite.
    Number(Number),
    Text(String),
    /// Tuples too.
    List(Vec<Node>),
    /// In the order of the text; of two fields of one name the latter counts. The named arguments
    /// of a call too.
    Object(Vec<(String, Node)>),
}

impl Value {
    /// What it is called in a refusal.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    pub(super) fn into_json(self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => value.into(),
            Self::Number(number) => serde_json::Value::Number(number),
            Self::Text(text) => text.into(),
            Self::List(list) => list
                .into_iter()
                .map(|node| node.value.into_json())
                .collect(),
            Self::Object(fields) => fields_to_json(fields).into(),
        }
    }
}

pub(super) fn fields_to_json(fields: Vec<(String, Node)>) -> Map<String, serde_json::Value> {
    fields
        .into_iter()
        .map(|(name, node)| (name, node.value.into_json()))
        .collect()
}

/// The field of a name, unless it is null.
pub(super) fn field<'a>(fields: &'a [(String, Node)], name: &str) -> Option<&'a Node> {
    fields
        .iter()
        .rev()
        .find(|(field, _)| field == name)
        .map(|(_, node)| node)
        .filter(|node| node.value != Value::Null)
}
