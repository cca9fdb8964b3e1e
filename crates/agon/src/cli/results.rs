//! `--results DIR`: the result files of OSUniverse in the run folder itself, each written as soon as its case
//! has its final verdict. The run folder is the truth; these files are made from it and brought in line with
//! it before the first and after the last case.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use agon_core::event::Phase;
use agon_core::{Event, Task, TrialId};
use agon_engine::Watch;
use agon_store::{RunFolder, RunReader, TrialLine};
use agon_testcase::results::{
    Book, Cases, Foreign, ResultsError, cases, fit, foreign, make_room, refresh, write_one,
};

use super::failure::Failure;
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
    writing: Option<Writing>,
}

/// A thread, because reading a trial's events and screens back takes longer than those who tell of it may
/// wait.
#[derive(Debug)]
struct Writing {
    /// `None`: that was all. Who still holds a sender then is not waited for.
    lines: Sender<Option<TrialLine>>,
    thread: JoinHandle<()>,
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
        let (lines, ended) = mpsc::channel::<Option<TrialLine>>();
        let work = move || {
            while let Ok(Some(line)) = ended.recv() {
                if let Err(error) = write_one(&reader, &book, &line, &out) {
                    tell(&line, &error);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("results".to_owned())
            .spawn(work)?;
        self.writing = Some(Writing { lines, thread });
        Ok(())
    }

    fn watch(&self, inner: Arc<dyn Watch>) -> Arc<dyn Watch> {
        let lines = self.writing.as_ref().map(|writing| writing.lines.clone());
        Arc::new(Live {
            inner,
            lines: Mutex::new(lines),
        })
    }

    /// What could not be written in between is written now, or told as what it is.
    fn end(&mut self, folder: &RunFolder) -> Result<(), Failure> {
        let Some(Writing { lines, thread }) = self.writing.take() else {
            return Ok(());
        };
        lines.send(None).ok();
        thread.join().ok();
        self.refresh(folder)
    }
}

fn tell(line: &TrialLine, error: &ResultsError) {
    let why = output::plain(&error.to_string());
    output::say(&format!("agon: the result file of {}: {why}", line.task));
}

/// Tells the writer of final lines, and everything to the one who would be told otherwise.
#[derive(Debug)]
struct Live {
    inner: Arc<dyn Watch>,
    lines: Mutex<Option<Sender<Option<TrialLine>>>>,
}

impl Watch for Live {
    fn planned(&self, left: u64, done: u64) {
        self.inner.planned(left, done);
    }
    fn started(&self, trial: &TrialId, attempt: u32) {
        self.inner.started(trial, attempt);
    }
    fn phase(&self, trial: &TrialId, phase: Phase) {
        self.inner.phase(trial, phase);
    }
    fn step(&self, trial: &TrialId, step: u32, of: u32) {
        self.inner.step(trial, step, of);
    }
    fn ended(&self, line: &TrialLine) {
        self.inner.ended(line);
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = lines.as_ref().filter(|_| line.is_final) {
            lines.send(Some(line.clone())).ok();
        }
    }
    fn hears_events(&self) -> bool {
        self.inner.hears_events()
    }
    fn event(&self, trial: &TrialId, event: &Event) {
        self.inner.event(trial, event);
    }
    fn note(&self, text: &str) {
        self.inner.note(text);
    }
}
