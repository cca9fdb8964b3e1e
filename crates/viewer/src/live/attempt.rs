//! One attempt that is being played: follows its record and keeps its latest state.

use agon_report::{clip, plain};
use agon_store::{RunFolder, RunningAttempt};
use serde::Deserialize;
use serde_json::Value;

use super::doorbell::{Doorbell, Watch};
use super::peek::{Told, peek};
use super::tail::{News, Tail};
use crate::shape::{Moment, TrialKey};
use crate::trial::brief;

/// Characters of a message that is no action.
const LONGEST: usize = 160;

#[derive(Debug)]
pub(super) struct Attempt {
    moment: Moment,
    record: Tail,
    watch: Option<Watch>,
}

/// What a look at a file showed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// It has changed since the last look.
    pub(super) changed: bool,
    /// There is more of it than was read.
    pub(super) more: bool,
}

impl Seen {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            changed: self.changed || other.changed,
            more: self.more || other.more,
        }
    }
}

/// What the plan says about a task.
#[derive(Debug, Clone, Default)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) steps: u32,
    pub(super) seconds: f64,
}

impl Attempt {
    pub(super) fn new(folder: &RunFolder, running: &RunningAttempt, planned: &Planned) -> Self {
        let RunningAttempt {
            task,
            epoch,
            attempt,
            began,
        } = running;
        let own = RunFolder::trial_folder(task, *epoch, *attempt);
        Self {
            moment: Moment {
                key: key(running),
                name: planned.name.clone(),
                step: 0,
                steps: planned.steps,
                began: *began,
                seconds: planned.seconds,
                phase: "setup".to_owned(),
                brief: String::new(),
                shot: None,
                read: 0,
                stopping: false,
            },
            record: Tail::of(folder.path().join(own).join("events.jsonl")),
            watch: None,
        }
    }

    pub(super) fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Says whether that is new.
    pub(super) fn ask_to_stop(&mut self) -> bool {
        !std::mem::replace(&mut self.moment.stopping, true)
    }

    pub(super) fn look(&mut self, doorbell: &mut Doorbell) -> Seen {
        // Before it is read: what is written in between rings.
        if self.watch.is_none() {
            self.watch = doorbell.watch(self.record.path());
        }
        match self.record.look() {
            News::Nothing => return Seen::default(),
            News::Grown => {}
            News::Anew => self.begin_anew(doorbell),
        }
        let moment = &mut self.moment;
        let mut last_action = None;
        let read = self.record.read(|line| match peek(line) {
            Told::Action => {
                moment.step = moment.step.saturating_add(1);
                let keep: &mut Vec<u8> = last_action.get_or_insert_default();
                keep.clear();
                keep.extend_from_slice(line);
            }
            Told::Phase(phase) => moment.phase = phase,
            Told::Shot(blob) => moment.shot = Some(blob),
            Told::Nothing => {}
        });
        // In words only what is shown: the last one.
        if let Some(line) = last_action {
            moment.brief = in_words(&line);
        }
        let changed = moment.read != self.record.taken();
        moment.read = self.record.taken();
        Seen {
            changed,
            // What can't be read is tried again when it changes.
            more: read.unwrap_or(false),
        }
    }

    fn begin_anew(&mut self, doorbell: &mut Doorbell) {
        self.leave(doorbell);
        self.watch = doorbell.watch(self.record.path());
        let moment = &mut self.moment;
        (moment.step, moment.read) = (0, 0);
        "setup".clone_into(&mut moment.phase);
        moment.brief.clear();
        moment.shot = None;
    }

    pub(super) fn leave(&mut self, doorbell: &Doorbell) {
        if let Some(watch) = self.watch.take() {
            doorbell.forget(watch);
        }
    }
}

#[derive(Deserialize)]
struct Acted {
    #[serde(default)]
    action: Value,
    refused: Option<String>,
}

fn in_words(line: &[u8]) -> String {
    match serde_json::from_slice::<Acted>(line) {
        Ok(Acted {
            refused: Some(text),
            ..
        }) => format!("refused: {}", clip(&plain(&text), LONGEST)),
        Ok(acted) => brief(&acted.action),
        Err(_) => String::new(),
    }
}

pub(super) fn key(running: &RunningAttempt) -> TrialKey {
    TrialKey {
        task: running.task.to_string(),
        epoch: running.epoch,
        attempt: running.attempt,
    }
}
