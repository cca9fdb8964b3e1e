//! Which attempts of a run are being played, and what they are at: those that `running.jsonl` names and
//! `trials.jsonl` does not. Knows nothing of results.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use agon_store::{Manifest, Order, Request, RunFolder, RunningAttempt};
use serde::Deserialize;

use super::attempt::{Attempt, Planned, key};
use super::doorbell::Doorbell;
use super::tail::{News, Tail};
use crate::library::Run;
use crate::shape::{Moment, TrialKey};

/// More than anybody plays at once.
const MOST: usize = 512;

#[derive(Debug)]
pub(super) struct Playing {
    folder: RunFolder,
    /// Limits and names of tasks.
    plan: Option<Arc<Manifest>>,
    running: Tail,
    trials: Tail,
    control: Tail,
    attempts: Vec<Attempt>,
    /// What ended at the last look: the line that says that it began may be read only at the next one.
    ended: HashSet<TrialKey>,
}

/// What has changed since the last look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Any of the files.
    pub(super) any: bool,
    /// Lines were added to `trials.jsonl`.
    pub(super) results: bool,
    /// There is more than was read.
    pub(super) more: bool,
}

impl Playing {
    /// Of a run that nobody writes: nothing is being played, and what ended need not be known.
    pub(super) fn nothing(folder: &RunFolder) -> Self {
        let mut playing = Self::all_of(folder);
        playing.running.skip();
        playing.trials.skip();
        playing.control.skip();
        playing
    }

    /// Of one that somebody writes: goes on from where its index is. Where that can't be asked, everything is read.
    pub(super) fn of(run: &Run) -> Self {
        let mut playing = Self::all_of(run.folder());
        playing.plan = run.manifest().ok();
        let known = run.with_index(|index| {
            let (attempts, read) = index.underway.known();
            Ok((attempts.to_vec(), read, index.state.taken))
        });
        if let Ok((attempts, read, taken)) = known {
            playing.running.begin_at(read);
            playing.trials.begin_at(taken);
            for running in attempts {
                playing.add(&running, &key(&running));
            }
        }
        playing
    }

    fn all_of(folder: &RunFolder) -> Self {
        Self {
            folder: folder.clone(),
            plan: None,
            running: Tail::of(folder.running_file()),
            trials: Tail::of(folder.trials_file()),
            control: Tail::of(folder.control_file()),
            attempts: Vec::new(),
            ended: HashSet::new(),
        }
    }

    pub(super) fn moments(&self) -> Vec<Moment> {
        let moments = self.attempts.iter();
        moments.map(|attempt| attempt.moment().clone()).collect()
    }

    /// `live`: somebody writes; otherwise nothing is being played, whatever the files say.
    pub(super) fn look(&mut self, live: bool, doorbell: &mut Doorbell) -> Changes {
        let mut changes = Changes::default();
        // In this order: an attempt is told in the first file before it is told in the second.
        let begun = self.begun(&mut changes);
        let earlier = std::mem::take(&mut self.ended);
        self.take_ended(&mut changes);
        for running in begun {
            let key = key(&running);
            if !earlier.contains(&key) && !self.ended.contains(&key) {
                self.add(&running, &key);
            }
        }
        self.take_requests(&mut changes);
        if live {
            for attempt in &mut self.attempts {
                let seen = attempt.look(doorbell);
                changes.any |= seen.changed;
                changes.more |= seen.more;
            }
        }
        let records: HashSet<&Path> = self.attempts.iter().map(Attempt::record).collect();
        doorbell.keep(|file| records.contains(file));
        changes
    }

    fn begun(&mut self, changes: &mut Changes) -> Vec<RunningAttempt> {
        match self.running.look() {
            News::Nothing => return Vec::new(),
            News::Grown => {}
            News::Anew => {
                // Another process writes now.
                self.attempts.clear();
            }
        }
        changes.any = true;
        lines_of(&mut self.running)
    }

    fn add(&mut self, running: &RunningAttempt, key: &TrialKey) {
        let known = |attempt: &Attempt| attempt.moment().key == *key;
        if self.attempts.len() >= MOST || self.attempts.iter().any(known) {
            return;
        }
        let planned = self.planned(running).unwrap_or_else(|| Planned {
            name: key.task.clone(),
            ..Planned::default()
        });
        let attempt = Attempt::new(&self.folder, running, planned);
        self.attempts.push(attempt);
    }

    fn planned(&self, running: &RunningAttempt) -> Option<Planned> {
        let mut tasks = self.plan.as_ref()?.tasks.iter();
        let stamp = tasks.find(|stamp| stamp.task == running.task)?;
        Some(Planned {
            name: stamp.name.clone(),
            steps: stamp.steps,
            seconds: stamp.seconds.get(),
        })
    }

    fn take_ended(&mut self, changes: &mut Changes) {
        if self.trials.look() == News::Nothing {
            return;
        }
        changes.any = true;
        changes.results = true;
        self.ended = lines_of::<TrialKey>(&mut self.trials).into_iter().collect();
        let ended = &self.ended;
        self.attempts
            .retain(|attempt| !ended.contains(&attempt.moment().key));
    }

    fn take_requests(&mut self, changes: &mut Changes) {
        if self.control.look() == News::Nothing {
            return;
        }
        changes.any = true;
        for request in lines_of::<Request>(&mut self.control) {
            let mut attempts = self.attempts.iter_mut();
            if let Some(attempt) = attempts.find(|attempt| is_of(&request, attempt.moment())) {
                attempt.ask_to_stop();
            }
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        let files = [&self.running, &self.trials, &self.control];
        let records = self.attempts.iter().map(Attempt::bytes);
        files.iter().map(|file| file.bytes).chain(records).sum()
    }
}

/// What was appended, as far as it can be read.
fn lines_of<T: for<'a> Deserialize<'a>>(tail: &mut Tail) -> Vec<T> {
    let mut lines = Vec::new();
    while tail
        .read(|line| lines.extend(serde_json::from_slice(line).ok()))
        .unwrap_or(false)
    {}
    lines
}

/// An earlier process may have played an attempt of the same number, and been asked to stop it.
fn is_of(request: &Request, moment: &Moment) -> bool {
    request.order == Order::Stop
        && request.epoch == moment.key.epoch
        && request.attempt == moment.key.attempt
        && match request.began {
            Some(began) => began == moment.began,
            None => request.at >= moment.began,
        }
        && request.task.to_string() == moment.key.task
}

#[cfg(test)]
#[path = "playing_tests.rs"]
mod tests;
