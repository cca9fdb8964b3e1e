//! A thread that writes result files while a run goes on: it is told of every trial that has its final
//! verdict. Reading a trial back takes longer than those who tell of it may wait. Knows no form of files.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use agon_core::event::Phase;
use agon_core::{Event, TrialId};
use agon_engine::Watch;
use agon_store::TrialLine;

#[derive(Debug)]
pub(super) struct Live<T> {
    /// `None`: that was all. Who still holds a sender then is not waited for.
    lines: Sender<Option<TrialLine>>,
    thread: JoinHandle<T>,
}

/// The final lines as they come, up to the last one.
#[derive(Debug)]
pub(super) struct Ended(Receiver<Option<TrialLine>>);

impl Iterator for Ended {
    type Item = TrialLine;

    fn next(&mut self) -> Option<TrialLine> {
        self.0.recv().ok().flatten()
    }
}

impl<T: Send + 'static> Live<T> {
    pub(super) fn begin(
        name: &str,
        work: impl FnOnce(Ended) -> T + Send + 'static,
    ) -> io::Result<Self> {
        let (lines, ended) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(Ended(ended)))?;
        Ok(Self { lines, thread })
    }

    /// Everything is told to `inner` as well.
    pub(super) fn watch(&self, inner: Arc<dyn Watch>) -> Arc<dyn Watch> {
        Arc::new(Tee {
            inner,
            lines: Mutex::new(self.lines.clone()),
        })
    }

    /// What came of the work; `None` if it panicked.
    pub(super) fn end(self) -> Option<T> {
        self.lines.send(None).ok();
        self.thread.join().ok()
    }
}

#[derive(Debug)]
struct Tee {
    inner: Arc<dyn Watch>,
    lines: Mutex<Sender<Option<TrialLine>>>,
}

impl Watch for Tee {
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
        if line.is_final {
            let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
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
