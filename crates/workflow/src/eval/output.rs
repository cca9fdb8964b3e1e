//! One row of `output.jsonl`: what became of one instance.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::error::EvalFileError;
use super::lines::{self, broken, for_each_line};
use super::metadata::EvalMetadata;
use crate::events::{Event, History};
use crate::metrics::Metrics;

/// The eight keys, in their order. All but the first two may be missing in a file, and are written as null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalOutput {
    #[serde(deserialize_with = "text_or_number")]
    pub instance_id: String,
    /// Empty where there was nothing to grade.
    pub test_result: Map<String, Value>,
    #[serde(default)]
    pub instruction: Option<String>,
    #[serde(default)]
    pub metadata: Option<EvalMetadata>,
    #[serde(default)]
    pub history: Option<History>,
    #[serde(default)]
    pub metrics: Option<Metrics>,
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub instance: Option<Map<String, Value>>,
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("instance_id must be a text")),
    }
}

impl EvalOutput {
    /// Whether there is a result. What has none, for whatever reason, is worth trying again.
    pub fn is_graded(&self) -> bool {
        lines::is_graded(self.test_result.is_empty(), self.error.is_none())
    }

    /// With the history in pairs.
    #[must_use]
    pub fn paired(self) -> Self {
        let history = match self.history {
            Some(History::Flat(events)) => Some(compatibility_for_eval_history_pairs(&events)),
            history => history,
        };
        Self { history, ..self }
    }
}

/// Each action with what it caused, as the result files of most benchmarks have it.
pub fn compatibility_for_eval_history_pairs(history: &[Event]) -> History {
    History::Pairs(crate::events::pairs(history))
}

/// Every row of a file. A torn last line never counted and is left out.
pub fn read_output(path: &Path) -> Result<Vec<EvalOutput>, EvalFileError> {
    let mut rows = Vec::new();
    for_each_line(path, |line, text| {
        let row = serde_json::from_slice(text).map_err(|error| broken(path, line, error))?;
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}
