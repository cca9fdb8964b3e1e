//! `--results DIR`: the result files of OSUniverse in the run folder itself, each written as soon as its case
//! has its final verdict. The run folder is the truth; these files are made from it and brought in line with
//! it before the first and after the last case.

use std::path::Path;
use std::sync::Arc;

use agon_core::Task;
use agon_engine::Watch;
use agon_store::{RunFolder, RunReader, TrialLine};
use agon_testcase::results::{
    Book, Cases, Foreign, ResultsError, cases, fit, foreign, make_room, refresh, write_one,
};

use super::failure::Failure;
use super::live::{Ended, Live};
use super::output;
use super::play::Results;

/// Results of the original in a folder that is about to become a run folder.
pub(super) fn earlier(dir: &Path) -> Result<Foreign, Failure> {
    Ok(foreign(dir)?)
}

#[derive(Debug)]
pub(super) struct ResultFiles {
    cases: Cases,
    agent_yaml: Option<String>,
    writing: Option<Live<()>>,
}

impl ResultFiles {
    /// For what is played now, beside whatever else of `all` was played before. `agent_yaml` stands in the
    /// files for the agent; without it, the agent's own name does.
    pub(super) fn new(
        dir: &Path,
        played: &[Task],
        all: &[Task],
        agent_yaml: Option<&str>,
    ) -> Result<Self, Failure> {
        fit(played.iter().map(|task| &task.id))?;
        // Results of the original are no hindrance.
        make_room(dir)?;
        Ok(Self {
            cases: cases(all),
            agent_yaml: agent_yaml.map(str::to_owned),
            writing: None,
        })
    }

    fn open(&self, folder: &RunFolder) -> Result<(RunReader, Book), Failure> {
        let reader = RunReader::open(folder.path())?;
        let mut book = Book::new(reader.manifest(), self.cases.clone());
        if let Some(agent) = &self.agent_yaml {
            book = book.with_agent(agent);
        }
        Ok((reader, book))
    }

    fn refresh(&self, folder: &RunFolder) -> Result<(), Failure> {
        let (reader, book) = self.open(folder)?;
        if folder.trials_file().exists() {
            refresh(&reader, &book, folder.path())?;
        }
        Ok(())
    }
}

impl Results for ResultFiles {
    fn begin(&mut self, folder: &RunFolder) -> Result<(), Failure> {
        self.refresh(folder)?;
        let (reader, book) = self.open(folder)?;
        let out = folder.path().to_owned();
        let work = move |ended: Ended| {
            for line in ended {
                if let Err(error) = write_one(&reader, &book, &line, &out) {
                    tell(&line, &error);
                }
            }
        };
        self.writing = Some(Live::begin("results", work)?);
        Ok(())
    }

    fn watch(&self, inner: Arc<dyn Watch>) -> Arc<dyn Watch> {
        match &self.writing {
            Some(live) => live.watch(inner),
            None => inner,
        }
    }

    /// What could not be written in between is written now, or told as what it is.
    fn end(&mut self, folder: &RunFolder) -> Result<(), Failure> {
        let Some(live) = self.writing.take() else {
            return Ok(());
        };
        live.end();
        self.refresh(folder)
    }
}

fn tell(line: &TrialLine, error: &ResultsError) {
    let why = output::plain(&error.to_string());
    output::say(&format!("agon: the result file of {}: {why}", line.task));
}
