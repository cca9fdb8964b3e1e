//! One row of a dataset, known by its `instance_id`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::EvalFileError;

/// The key of every row that tells it from the others.
pub(super) const ID: &str = "instance_id";

/// Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    id: String,
    row: Arc<Map<String, Value>>,
}

impl Instance {
    /// `row`: its number, for the error.
    pub fn new(fields: Map<String, Value>, row: usize) -> Result<Self, EvalFileError> {
        let id = id_of(&fields).ok_or(EvalFileError::NoId { row })?;
        Ok(Self {
            id,
            row: Arc::new(fields),
        })
    }

    pub fn id(&self) -> String {
        self.id.clone()
    }

    pub fn row(&self) -> &Map<String, Value> {
        &self.row
    }

    pub fn get(&self, field: &str) -> Option<&Value> {
        self.row.get(field)
    }

    /// A field that holds text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.row.get(field)?.as_str()
    }
}

/// What a row calls itself, if it does. Ids are compared as texts, whatever a dataset has.
pub fn id_of(fields: &Map<String, Value>) -> Option<String> {
    match fields.get(ID)? {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}
