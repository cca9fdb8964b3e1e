//! Figures, and how they are handed over. Knows nothing of what is measured.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

/// One row of the table.
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

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "value": self.value,
            "reference": self.reference,
            "notes": self.notes,
        })
    }
}

/// Prints one line of JSON per figure, or what went wrong.
pub(crate) fn tell(measured: Result<Vec<Figure>, Failed>) -> ExitCode {
    match measured {
        Ok(figures) => {
            let mut out = std::io::stdout().lock();
            for figure in figures {
                let _ = writeln!(out, "{}", figure.to_json());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
