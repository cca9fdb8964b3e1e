//! `output.jsonl` and `metadata.json` while a benchmark runs: a row as soon as an instance has its final
//! verdict. The run folder is the truth; these files are made from it and brought in line with it before
//! the first and after the last instance.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agon_core::{Money, Task};
use agon_engine::Watch;
use agon_store::{RunFolder, RunReader};
use agon_workflow::eval::{EvalFileError, EvalMetadata, OutputWriter};
use agon_workflow::results::{Instances, RunRows};

use crate::cli::failure::Failure;
use crate::cli::live::{Ended, Live};
use crate::cli::output;
use crate::cli::play::Results;

#[derive(Debug)]
pub(super) struct OutputFiles {
    metadata: EvalMetadata,
    instances: Arc<Instances>,
    max_budget: Option<Money>,
    /// Whether the file says what the run folder says.
    writing: Option<Live<bool>>,
}

impl OutputFiles {
    pub(super) fn new(metadata: EvalMetadata, tasks: &[Task], max_budget: Option<Money>) -> Self {
        let row = |task: &Task| {
            let row = task.instance.on_host().clone()?;
            Some((task.id.clone(), row))
        };
        Self {
            metadata,
            instances: Arc::new(tasks.iter().filter_map(row).collect()),
            max_budget,
            writing: None,
        }
    }

    fn rows(&self, reader: RunReader) -> RunRows {
        let rows = RunRows::new(reader, self.metadata.clone(), Arc::clone(&self.instances));
        rows.with_budget(self.max_budget)
    }
}

/// What the folder says already, if it does; otherwise it says this from now on.
fn settle(metadata: &mut EvalMetadata, folder: &RunFolder) -> Result<(), EvalFileError> {
    let path = folder.path().join("metadata.json");
    match EvalMetadata::read(&path) {
        Ok(before) => *metadata = before,
        Err(_) => metadata.write(&path)?,
    }
    Ok(())
}

fn output_file(folder: &RunFolder) -> PathBuf {
    folder.path().join("output.jsonl")
}

impl Results for OutputFiles {
    fn begin(&mut self, folder: &RunFolder) -> Result<(), Failure> {
        let logs = folder.path().join("logs");
        fs::create_dir_all(&logs)
            .map_err(|error| Failure::new(format_args!("{}: {error}", logs.display())))?;
        // A resume does not change when the evaluation began.
        settle(&mut self.metadata, folder)?;
        let reader = RunReader::open(folder.path())?;
        let mut there = HashSet::new();
        reader.for_each_trial(|line| {
            if line.is_final {
                there.insert((line.task, line.epoch));
            }
        })?;
        let rows = self.rows(reader);
        let file = output_file(folder);
        if !there.is_empty() {
            rows.write_all(&file)?;
        }
        let mut writer = OutputWriter::open(&file)?;
        let beside = folder.path().to_owned();
        let work = move |ended: Ended| {
            let mut right = true;
            let mut faulted = HashSet::new();
            for line in ended {
                // Played again: two rows of it would stand in the file.
                right &= there.insert((line.task.clone(), line.epoch));
                // A fault's row gives way to the next one of its instance, be it another epoch's.
                right &= !faulted.contains(&line.task);
                if line.fault.is_some() {
                    faulted.insert(line.task.clone());
                }
                let append = |row| {
                    writer
                        .append(&row)
                        .map_err(EvalFileError::io("can't write", &file))
                };
                if let Err(error) = rows.row(&line, &beside).and_then(append) {
                    output::say(&format!("agon: output.jsonl: {error}"));
                    right = false;
                }
            }
            right
        };
        self.writing = Some(Live::begin("output", work)?);
        Ok(())
    }

    fn watch(&self, inner: Arc<dyn Watch>) -> Arc<dyn Watch> {
        match &self.writing {
            Some(live) => live.watch(inner),
            None => inner,
        }
    }

    fn end(&mut self, folder: &RunFolder) -> Result<(), Failure> {
        let Some(live) = self.writing.take() else {
            return Ok(());
        };
        if !live.end().unwrap_or(false) {
            let reader = RunReader::open(folder.path())?;
            self.rows(reader).write_all(&output_file(folder))?;
        }
        Ok(())
    }
}
