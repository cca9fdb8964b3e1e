//! Rows of `output.jsonl` for the final attempts of a run.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use agon_core::{EventBody, Money, TaskId};
use agon_store::{RunReader, TrialLine};
use serde_json::{Map, Value};

use super::completions;
use super::log::log;
use crate::dialect::Record;
use crate::eval::{EvalFileError, EvalMetadata, EvalOutput, Played, eval_output_of, line_of};
use crate::metrics::ModelNames;

/// Beside the rows: one readable log for each.
const LOGS: &str = "infer_logs";

/// And a folder for each, if its answers are wanted.
const COMPLETIONS: &str = "llm_completions";

/// The rows of the dataset that a run's tasks were made from.
pub type Instances = HashMap<TaskId, Arc<Map<String, Value>>>;

#[derive(Debug)]
pub struct RunRows {
    reader: RunReader,
    metadata: EvalMetadata,
    instances: Arc<Instances>,
    max_budget: Option<Money>,
    /// Ids that tasks of several categories have.
    shared: HashSet<String>,
    /// Of tasks: what a dataset calls its rows.
    names: HashMap<TaskId, String>,
    models: ModelNames,
}

impl RunRows {
    pub fn new(
        reader: RunReader,
        metadata: EvalMetadata,
        instances: impl Into<Arc<Instances>>,
    ) -> Self {
        let (mut seen, mut shared) = (HashSet::new(), HashSet::new());
        let mut names = HashMap::new();
        for stamp in &reader.manifest().tasks {
            names.insert(stamp.task.clone(), stamp.name.clone());
            if !seen.insert(stamp.task.id()) {
                shared.insert(stamp.task.id().to_owned());
            }
        }
        Self {
            shared,
            names,
            models: ModelNames::of_run(reader.manifest()),
            reader,
            metadata,
            instances: instances.into(),
            max_budget: None,
        }
    }

    /// What the model could cost for one instance.
    #[must_use]
    pub fn with_budget(self, max_budget: Option<Money>) -> Self {
        Self { max_budget, ..self }
    }

    /// What became of one attempt. Its log, and its model's answers if they are wanted, are written below
    /// `folder`.
    pub fn row(&self, line: &TrialLine, folder: &Path) -> Result<EvalOutput, EvalFileError> {
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
            models: Some(&self.models),
        };
        let mut row = eval_output_of(&Played {
            line,
            name: self
                .names
                .get(&line.task)
                .map_or(line.task.id(), String::as_str),
            record,
            metadata: Some(&self.metadata),
            instance: self.instances.get(&line.task).map(Arc::as_ref),
            max_budget: self.max_budget,
        });
        if self.shared.contains(line.task.id()) {
            row.instance_id = line.task.to_string();
        }
        let name = self.name(line);
        write_log(&name, &log(line, &events), folder)?;
        if completions::are_wanted(&self.metadata) {
            completions::write(&record, &folder.join(COMPLETIONS).join(&name))?;
        }
        Ok(row)
    }

    /// Of files and folders. Not the dataset's own id, which could be any text.
    fn name(&self, line: &TrialLine) -> String {
        let mut name = line.task.id().to_owned();
        if self.shared.contains(line.task.id()) {
            name = format!("{}__{name}", line.task.category());
        }
        if line.epoch > 1 {
            name = format!("{name}_epoch_{}", line.epoch);
        }
        name
    }

    /// All rows, in place of whatever the file holds. Readers see the old file or the new one. Says how many.
    pub fn write_all(&self, path: &Path) -> Result<usize, EvalFileError> {
        let failed = || EvalFileError::io("can't write", path);
        let folder = path.parent().unwrap_or(Path::new("."));
        let fresh = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
        let mut file = BufWriter::new(fresh.as_file());
        let mut count = 0;
        for line in self.reader.trials()?.iter().filter(|line| line.is_final) {
            let text = line_of(&self.row(line, folder)?).map_err(failed())?;
            file.write_all(&text).map_err(failed())?;
            count += 1;
        }
        file.flush().map_err(failed())?;
        drop(file);
        let readable = Permissions::from_mode(0o644);
        fresh
            .as_file()
            .set_permissions(readable)
            .map_err(failed())?;
        fresh.persist(path).map_err(|error| failed()(error.error))?;
        Ok(count)
    }
}

fn write_log(name: &str, log: &str, folder: &Path) -> Result<(), EvalFileError> {
    let folder = folder.join(LOGS);
    fs::create_dir_all(&folder).map_err(EvalFileError::io("can't create", &folder))?;
    let path = folder.join(format!("instance_{name}.log"));
    fs::write(&path, log).map_err(EvalFileError::io("can't write", path))
}
