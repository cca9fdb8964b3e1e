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

/// What a dataset calls a row, whichever field it names its rows by. `task` is the name of the task that was
/// made of it: that of the row, unless it is too odd to be one.
pub fn id_in_dataset(fields: &Map<String, Value>, task: &str) -> Option<String> {
    let is_named = |value: &Value| match value {
        Value::String(text) => text == task,
        Value::Number(number) => number.to_string() == task,
        _ => false,
    };
    match fields.values().any(is_named) {
        true => Some(task.to_owned()),
        false => id_of(fields),
    }
}

/// What a row calls itself, if it does. Ids are compared as texts, whatever a dataset has.
pub(super) fn id_of(fields: &Map<String, Value>) -> Option<String> {
    match fields.get(ID)? {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_called_by_the_field_that_names_them() {
        let id = |row: Value, task: &str| id_in_dataset(row.as_object().unwrap(), task);
        let named = |id: &str| Some(id.to_owned());
        let own = json!({ "question": "?", "name": "it/11 ü" });
        assert_eq!(id(own.clone(), "it/11 ü"), named("it/11 ü"));
        assert_eq!(id(own, "it_11_ü"), None, "a name that is none of the row's");
        assert_eq!(id(json!({ "number": 7 }), "7"), named("7"));
        let both = json!({ "instance_id": "shared", "name": "a 1" });
        assert_eq!(id(both.clone(), "a 1"), named("a 1"));
        assert_eq!(id(both, "another"), named("shared"));
    }
}
