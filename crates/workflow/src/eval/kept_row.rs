//! What an imported row says in words of its own: kept beside its record, and given back as it was when the
//! run is exported. Knows nothing of histories, which are kept apart.

use std::io;

use agon_core::EventBody;
use agon_core::event::Kept;
use agon_store::RunWriter;
use agon_store::blobs::Stored;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::output::EvalOutput;
use crate::dialect::{LONGEST_KEPT, Record};

const ROW: &str = "row";
const PATCH: &str = "patch";

/// A result has these keys, whatever it was called in the imported row.
const RESULT: [&str; 2] = ["resolved", "score"];

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct KeptRow {
    pub(super) instance_id: String,
    pub(super) test_result: Map<String, Value>,
    pub(super) instruction: Option<String>,
    pub(super) metrics: Option<Value>,
    pub(super) error: Option<String>,
    pub(super) instance: Option<Map<String, Value>>,
}

impl KeptRow {
    /// As blobs of the run; the events that lead to them are returned.
    pub(super) fn keep(&self, writer: &RunWriter) -> io::Result<Vec<EventBody>> {
        let mut events = vec![kept(writer, ROW, &serde_json::to_vec(self)?)?];
        let patch = self.test_result.get("git_patch").and_then(Value::as_str);
        if let Some(patch) = patch.filter(|patch| !patch.is_empty()) {
            events.push(kept(writer, PATCH, patch.as_bytes())?);
        }
        Ok(events)
    }

    /// That of a record; `None` if it was not imported.
    pub(super) fn of(record: &Record<'_>) -> Option<Self> {
        let kept = record.events.iter().find_map(|event| match &event.body {
            EventBody::Kept(kept) if kept.what == ROW => Some(kept),
            _ => None,
        })?;
        serde_json::from_slice(&record.bodies.kept(kept)?).ok()
    }

    /// The row that was made of the record, with everything as it was.
    pub(super) fn restore(self, made: EvalOutput) -> EvalOutput {
        let metrics = self.metrics.map(serde_json::from_value);
        let mut test_result = self.test_result;
        for (key, value) in made.test_result {
            if RESULT.contains(&key.as_str()) {
                test_result.entry(key).or_insert(value);
            }
        }
        EvalOutput {
            instance_id: self.instance_id,
            test_result,
            instruction: self.instruction.or(made.instruction),
            metrics: match metrics {
                Some(Ok(metrics)) => Some(metrics),
                Some(Err(_)) => made.metrics,
                None => None,
            },
            error: self.error,
            instance: self.instance.or(made.instance),
            ..made
        }
    }
}

fn kept(writer: &RunWriter, what: &str, content: &[u8]) -> io::Result<EventBody> {
    Ok(
        store(writer, what, content, LONGEST_KEPT)?.unwrap_or_else(|| {
            EventBody::Note(format!(
                "the imported {what} is not kept: it is over {LONGEST_KEPT} bytes"
            ))
        }),
    )
}

/// The event that leads to what was kept; `None` if it is too long.
pub(super) fn store(
    writer: &RunWriter,
    what: &str,
    mut content: &[u8],
    longest: u64,
) -> io::Result<Option<EventBody>> {
    Ok(match writer.keep(&mut content, longest)? {
        Stored::As { digest, bytes } => Some(EventBody::Kept(Kept {
            what: what.to_owned(),
            blob: digest,
            bytes,
        })),
        Stored::TooLarge => None,
    })
}
