//! One row of the table, as it is handed over. Knows nothing of what is measured.

use serde_json::{Value, json};

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug)]
pub(crate) struct Figure {
    name: &'static str,
    value: f64,
    reference: Option<f64>,
    /// What should be said beside it: how far figures spread, which tools are missing.
    notes: Vec<String>,
}

impl Figure {
    pub(crate) fn new(name: &'static str, value: f64, reference: Option<f64>) -> Self {
        Self {
            name,
            value,
            reference,
            notes: Vec::new(),
        }
    }

    pub(crate) fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "value": self.value,
            "reference": self.reference,
            "notes": self.notes,
        })
    }
}
