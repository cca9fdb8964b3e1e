//! One attempt that is being played: follows its record and keeps its latest state.

use std::path::Path;

use agon_report::clip;
use agon_store::{RunFolder, RunningAttempt};
use serde::Deserialize;
use serde_json::Value;

use super::doorbell::Doorbell;
use super::output;
use super::peek::{Told, peek};
use super::tail::{News, Tail};
use crate::shape::{Moment, TrialKey};
use crate::trial::brief;
use crate::visible::plain;

/// Characters of a message that is no action.
const LONGEST: usize = 160;
/// Characters of the name of a key.
const LONGEST_KEY: usize = 40;

#[derive(Debug)]
pub(super) struct Attempt {
    moment: Moment,
    /// The agent acts, one action after the other: input is what comes of that.
    acts: bool,
    record: Tail,
}

/// What a look at a file showed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// It has changed since the last look.
    pub(super) changed: bool,
    /// There is more of it than was read.
    pub(super) more: bool,
}

/// What the plan says about a task.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) steps: u32,
    pub(super) seconds: f64,
}

impl Attempt {
    pub(super) fn new(folder: &RunFolder, running: &RunningAttempt, planned: Planned) -> Self {
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
                name: planned.name,
                step: 0,
                steps: planned.steps,
                began: *began,
                seconds: planned.seconds,
                phase: "setup".to_owned(),
                brief: String::new(),
                output: String::new(),
                shot: None,
                read: 0,
                stopping: false,
            },
            acts: false,
            record: Tail::of(folder.path().join(own).join("events.jsonl")),
        }
    }

    pub(super) fn moment(&self) -> &Moment {
        &self.moment
    }

    /// The file that tells of it.
    pub(super) fn record(&self) -> &Path {
        self.record.path()
    }

    pub(super) fn ask_to_stop(&mut self) {
        self.moment.stopping = true;
    }

    pub(super) fn look(&mut self, doorbell: &mut Doorbell) -> Seen {
        let news = self.record.look();
        // Before it is read: what is written in between rings.
        let identity = self.record.identity();
        let rings = identity.is_some_and(|one| doorbell.watch(self.record.path(), one));
        match news {
            News::Nothing if !rings => return Seen::default(),
            News::Nothing | News::Grown => {}
            News::Anew => self.begin_anew(),
        }
        let (moment, acts) = (&mut self.moment, &mut self.acts);
        let mut last_action = None;
        let mut last_input: Option<Vec<u8>> = None;
        let mut last_seen: Option<Vec<u8>> = None;
        let read = self.record.read(|line| match peek(line) {
            Told::Action => {
                moment.step = moment.step.saturating_add(1);
                *acts = true;
                let keep: &mut Vec<u8> = last_action.get_or_insert_default();
                keep.clear();
                keep.extend_from_slice(line);
                // Nothing has come of it yet.
                moment.output.clear();
                last_seen = None;
            }
            Told::Phase(phase) => moment.phase = phase,
            Told::Shot(blob) => moment.shot = Some(blob),
            Told::Output => {
                let keep = last_seen.get_or_insert_default();
                keep.clear();
                keep.extend_from_slice(line);
            }
            Told::Input if !*acts => {
                let keep = last_input.get_or_insert_default();
                keep.clear();
                keep.extend_from_slice(line);
            }
            Told::Reacted(steps) => {
                let steps = u32::try_from(steps).unwrap_or(u32::MAX);
                moment.step = moment.step.max(steps);
            }
            Told::Input | Told::Nothing => {}
        });
        // In words only what is shown: the last one.
        if let Some(line) = last_action {
            moment.brief = in_words(&line);
        } else if let Some(pressed) = last_input.and_then(|line| pressed(&line)) {
            moment.brief = pressed;
        }
        if let Some(line) = last_seen {
            moment.output = output::end_of(&line);
        }
        let changed = moment.read != self.record.taken();
        moment.read = self.record.taken();
        Seen {
            changed,
            // What can't be read is tried again when it changes.
            more: read.unwrap_or(false),
        }
    }

    fn begin_anew(&mut self) {
        let moment = &mut self.moment;
        (moment.step, moment.read) = (0, 0);
        self.acts = false;
        "setup".clone_into(&mut moment.phase);
        moment.brief.clear();
        moment.output.clear();
        moment.shot = None;
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        self.record.bytes
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

#[derive(Deserialize)]
struct Reported {
    input: Vec<Input>,
}

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    kind: String,
    key: Option<String>,
    button: Option<u8>,
}

/// The last key or button of what is reported, in words.
fn pressed(line: &[u8]) -> Option<String> {
    let reported: Reported = serde_json::from_slice(line).ok()?;
    let mut inputs = reported.input.into_iter().rev();
    inputs.find_map(|input| match (&*input.kind, input.key, input.button) {
        ("key_press", Some(key), _) => Some(format!("pressed {}", clip(&plain(&key), LONGEST_KEY))),
        ("button_press", _, Some(button)) => Some(format!("pressed button {button}")),
        ("scroll", ..) => Some("scrolled".to_owned()),
        _ => None,
    })
}

pub(super) fn key(running: &RunningAttempt) -> TrialKey {
    TrialKey {
        task: running.task.to_string(),
        epoch: running.epoch,
        attempt: running.attempt,
    }
}
