//! Rows of `output.jsonl` for the final attempts of a run.

use std::collections::HashMap;
use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use agon_core::{EventBody, Money, TaskId};
use agon_store::{RunReader, TrialLine};
use serde_json::{Map, Value};

use crate::dialect::Record;
use crate::eval::{EvalFileError, EvalMetadata, EvalOutput, Played, eval_output_of};

/// The rows of the dataset that a run's tasks were made from.
pub type Instances = HashMap<TaskId, Arc<Map<String, Value>>>;

#[derive(Debug)]
pub struct RunRows {
    reader: RunReader,
    metadata: EvalMetadata,
    instances: Instances,
    max_budget: Option<Money>,
}

impl RunRows {
    pub fn new(reader: RunReader, metadata: EvalMetadata, instances: Instances) -> Self {
        Self {
            reader,
            metadata,
            instances,
            max_budget: None,
        }
    }

    /// What the model could cost for one instance.
    #[must_use]
    pub fn with_budget(self, max_budget: Option<Money>) -> Self {
        Self { max_budget, ..self }
    }

    /// What became of one attempt.
    pub fn row(&self, line: &TrialLine) -> Result<EvalOutput, EvalFileError> {
        let events = self.reader.events(line)?;
        let instruction = events.iter().find_map(|event| match &event.body {
            EventBody::Instruction(text) => Some(text.as_str()),
            _ => None,
        });
        let record = Record {
            events: &events,
            instruction,
            agent: &self.metadata.agent_class,
            bodies: &self.reader,
        };
        Ok(eval_output_of(&Played {
            line,
            record,
            metadata: Some(&self.metadata),
            instance: self.instances.get(&line.task).map(Arc::as_ref),
            max_budget: self.max_budget,
        }))
    }

    /// All rows, in place of whatever the file holds. Readers see the old file or the new one. Says how many.
    pub fn write_all(&self, path: &Path) -> Result<usize, EvalFileError> {
        let failed = || EvalFileError::io("can't write", path);
        let folder = path.parent().unwrap_or(Path::new("."));
        let fresh = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
        let mut file = BufWriter::new(fresh.as_file());
        let mut count = 0;
        for line in self.reader.trials()?.iter().filter(|line| line.is_final) {
            let mut text = serde_json::to_vec(&self.row(line)?).map_err(|e| failed()(e.into()))?;
            text.push(b'\n');
            file.write_all(&text).map_err(failed())?;
            count += 1;
        }
        file.flush().map_err(failed())?;
        drop(file);
        let readable = Permissions::from_mode(0o644);
        fresh.as_file().set_permissions(readable).map_err(failed())?;
        fresh.persist(path).map_err(|error| failed()(error.error))?;
        Ok(count)
    }
}
