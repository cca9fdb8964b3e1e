//! One row of `output.jsonl`: what became of one instance.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::error::EvalFileError;
use super::metadata::EvalMetadata;
use crate::events::{Event, History};
use crate::metrics::Metrics;

/// A row with a whole history, its pictures included, is not longer.
const LONGEST: u64 = 1 << 30;

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
        !self.test_result.is_empty() || self.error.is_none()
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
        let row = serde_json::from_slice(text).map_err(|error| broken(path, line, &error))?;
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

pub(super) fn broken(path: &Path, line: usize, error: &serde_json::Error) -> EvalFileError {
    EvalFileError::Broken {
        path: path.to_owned(),
        line,
        why: error.to_string(),
    }
}

/// Calls `each` with every whole line that is not empty, and its number from 1.
pub(super) fn for_each_line(
    path: &Path,
    mut each: impl FnMut(usize, &[u8]) -> Result<(), EvalFileError>,
) -> Result<(), EvalFileError> {
    let failed = || EvalFileError::io("can't read", path);
    let mut reader = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed()(error)),
    };
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let mut bounded = (&mut reader).take(LONGEST);
        let read = bounded.read_until(b'\n', &mut text).map_err(failed())?;
        if text.pop() != Some(b'\n') {
            // Without an end: it is torn, or there is nothing more.
            return match (read as u64) < LONGEST {
                true => Ok(()),
                false => Err(failed()(std::io::Error::other("a line never ends"))),
            };
        }
        if !text.trim_ascii().is_empty() {
            each(line, &text)?;
        }
    }
    Ok(())
}
