//! A run that is being written, by the real writer.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_core::event::Phase;
use agon_core::verdict::Verdict;
use agon_core::{
    Action, EventBody, Observation, Picture, PictureFormat, ScreenView, Source, TrialId,
};
use agon_store::{Recorder, RunFolder, TrialLine};
use agon_testkit::GeneratedRun;
use tempfile::TempDir;

use crate::library::{Library, Run};
use crate::shape::TrialKey;

pub(super) struct Written {
    pub(super) run: GeneratedRun,
    root: TempDir,
}

impl Written {
    pub(super) fn begin(tasks: u64) -> Self {
        let root = tempfile::tempdir().unwrap();
        let run = GeneratedRun::begin(&root.path().join("runs/one"), tasks, "test").unwrap();
        Self { run, root }
    }

    /// As the viewer sees it.
    pub(super) fn opened(&self) -> Arc<Run> {
        let roots = vec![self.run.folder.path().to_owned()];
        let library = Library::new(roots, self.root.path().join("cache")).unwrap();
        library.runs().unwrap().remove(0)
    }

    pub(super) fn key(&self, n: usize, attempt: u32) -> TrialKey {
        TrialKey {
            task: self.run.manifest.tasks[n].task.to_string(),
            epoch: 1,
            attempt,
        }
    }

    /// An attempt that has its own folder already.
    pub(super) fn play(&self, n: usize, attempt: u32) -> Recorder {
        let mut record = self.run.recorder(n, attempt);
        let phase = |phase| EventBody::Phase(phase);
        record
            .record(Source::Harness, None, phase(Phase::Setup))
            .unwrap();
        self.run.clock.advance(Duration::from_secs(2));
        record
            .record(Source::Harness, None, phase(Phase::Running))
            .unwrap();
        record
    }

    pub(super) fn events(&self, n: usize, attempt: u32) -> PathBuf {
        let task = &self.run.manifest.tasks[n].task;
        let own = RunFolder::trial_folder(task, 1, attempt);
        self.run.folder.path().join(own).join("events.jsonl")
    }

    /// Writes to a file as no whole line would be.
    pub(super) fn tear(&self, file: &PathBuf, text: &str) {
        let file = OpenOptions::new().append(true).open(file);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(super) fn end(&self, n: usize, attempt: u32, record: Recorder) {
        let events = record.finish(None).unwrap();
        let stamp = &self.run.manifest.tasks[n];
        let trial = TrialId {
            task: stamp.task.clone(),
            epoch: 1,
        };
        let verdict = Verdict {
            passed: true,
            score: 1.0,
            checks: Vec::new(),
        };
        let at = "2026-11-16T12:00:00Z".parse().unwrap();
        let line = TrialLine {
            steps: 1,
            ..TrialLine::new(trial, attempt, Ok(&verdict), events, stamp.key, at)
        };
        self.run.writer.append_trial(&line).unwrap();
    }
}

/// The agent runs a command and sees a screen; returns the blob.
pub(super) fn act(record: &mut Recorder, command: &str) -> String {
    let action = EventBody::Action(Action::run(command));
    let cause = record.record(Source::Agent, None, action).unwrap();
    let mut seen = Observation::done();
    let picture = Picture::new(PictureFormat::Png, command.as_bytes());
    let blob = picture.blob.to_string();
    seen.screen = Some(ScreenView {
        width: 640,
        height: 480,
        cursor: None,
        window: None,
        picture,
    });
    let observation = EventBody::Observation(seen);
    record
        .record(Source::Environment, Some(cause), observation)
        .unwrap();
    blob
}
