//! Which attempts of a run are being played, and what they are at: those that `running.jsonl` names and
//! `trials.jsonl` does not. Knows nothing of results.

use std::collections::{HashMap, HashSet};

use agon_store::{Manifest, Order, Request, RunFolder, RunningAttempt, TaskStamp};
use serde::Deserialize;

use super::attempt::{Attempt, Planned, Seen, key};
use super::doorbell::Doorbell;
use super::tail::{News, Tail};
use crate::shape::{Moment, TrialKey};

/// More than anybody plays at once.
const MOST: usize = 512;

#[derive(Debug)]
pub(super) struct Playing {
    folder: RunFolder,
    tasks: HashMap<String, Planned>,
    running: Tail,
    trials: Tail,
    control: Tail,
    attempts: Vec<Attempt>,
    /// What ended at the last look: the line that says that it began may be read only at the next one.
    ended: HashSet<TrialKey>,
}

/// What has changed since the last look.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) seen: Seen,
    /// Attempts began or ended.
    pub(super) others: bool,
    /// Lines were added to `trials.jsonl`.
    pub(super) results: bool,
    pub(super) moments: Vec<Moment>,
    pub(super) stopping: Vec<TrialKey>,
}

impl Playing {
    /// `live`: somebody writes. Where nobody does, nothing is being played, and what ended need not be known.
    pub(super) fn new(folder: &RunFolder, live: bool) -> Self {
        let mut playing = Self::all_of(folder);
        if !live {
            playing.running.skip();
            playing.trials.skip();
            playing.control.skip();
        }
        playing
    }

    fn all_of(folder: &RunFolder) -> Self {
        Self {
            folder: folder.clone(),
            tasks: HashMap::new(),
            running: Tail::of(folder.running_file()),
            trials: Tail::of(folder.trials_file()),
            control: Tail::of(folder.control_file()),
            attempts: Vec::new(),
            ended: HashSet::new(),
        }
    }

    /// Limits and names of tasks, for attempts that begin from now on.
    pub(super) fn plan(&mut self, manifest: &Manifest) {
        let planned = |task: &TaskStamp| Planned {
            name: task.name.clone(),
            steps: task.steps,
            seconds: task.seconds.get(),
        };
        let tasks = manifest.tasks.iter();
        self.tasks = tasks
            .map(|task| (task.task.to_string(), planned(task)))
            .collect();
    }

    pub(super) fn moments(&self) -> Vec<Moment> {
        let moments = self.attempts.iter();
        moments.map(|attempt| attempt.moment().clone()).collect()
    }

    /// `live`: somebody writes; otherwise nothing is being played, whatever the files say.
    pub(super) fn look(&mut self, live: bool, doorbell: &mut Doorbell) -> Changes {
        let mut changes = Changes::default();
        // In this order: an attempt is told in the first file before it is told in the second.
        let begun = self.begun(&mut changes, doorbell);
        let earlier = std::mem::take(&mut self.ended);
        self.take_ended(&mut changes, doorbell);
        for running in begun {
            let key = key(&running);
            if !earlier.contains(&key) && !self.ended.contains(&key) {
                changes.others |= self.add(&running, &key);
            }
        }
        self.take_requests(&mut changes);
        if live {
            for attempt in &mut self.attempts {
                let seen = attempt.look(doorbell);
                changes.seen = changes.seen.and(seen);
                if seen.changed {
                    changes.moments.push(attempt.moment().clone());
                }
            }
        }
        changes
    }

    /// Nothing rings for it any more.
    pub(super) fn leave(&mut self, doorbell: &Doorbell) {
        let attempts = self.attempts.iter_mut();
        attempts.for_each(|gone| gone.leave(doorbell));
    }

    fn begun(&mut self, changes: &mut Changes, doorbell: &Doorbell) -> Vec<RunningAttempt> {
        match self.running.look() {
            News::Nothing => return Vec::new(),
            News::Grown => {}
            News::Anew => {
                // Another process writes now.
                self.leave(doorbell);
                self.attempts.clear();
                changes.others = true;
            }
        }
        changes.seen.changed = true;
        lines_of(&mut self.running)
    }

    fn add(&mut self, running: &RunningAttempt, key: &TrialKey) -> bool {
        let known = |attempt: &Attempt| attempt.moment().key == *key;
        if self.attempts.len() >= MOST || self.attempts.iter().any(known) {
            return false;
        }
        let nameless = Planned {
            name: key.task.clone(),
            ..Planned::default()
        };
        let planned = self.tasks.get(&key.task).unwrap_or(&nameless);
        let attempt = Attempt::new(&self.folder, running, planned);
        self.attempts.push(attempt);
        true
    }

    fn take_ended(&mut self, changes: &mut Changes, doorbell: &Doorbell) {
        if self.trials.look() == News::Nothing {
            return;
        }
        changes.seen.changed = true;
        changes.results = true;
        self.ended = lines_of::<TrialKey>(&mut self.trials).into_iter().collect();
        let (ended, before) = (&self.ended, self.attempts.len());
        self.attempts.retain_mut(|attempt| {
            let stays = !ended.contains(&attempt.moment().key);
            if !stays {
                attempt.leave(doorbell);
            }
            stays
        });
        changes.others |= self.attempts.len() < before;
    }

    fn take_requests(&mut self, changes: &mut Changes) {
        if self.control.look() == News::Nothing {
            return;
        }
        changes.seen.changed = true;
        for request in lines_of::<Request>(&mut self.control) {
            let mut attempts = self.attempts.iter_mut();
            if let Some(attempt) = attempts.find(|attempt| is_of(&request, attempt.moment()))
                && attempt.ask_to_stop()
            {
                changes.stopping.push(attempt.moment().key.clone());
            }
        }
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
        && request.at >= moment.began
        && request.task.to_string() == moment.key.task
}

#[cfg(test)]
#[path = "playing_tests.rs"]
mod tests;
