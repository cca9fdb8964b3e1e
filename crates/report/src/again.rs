//! What was played more than once: draws after the first verdict, and attempts that never ended. They count
//! nowhere; every report tells of them.

use std::collections::{BTreeMap, HashMap};

use agon_core::verdict::Outcome;
use agon_store::{BegunAttempt, Manifest, TrialLine};

use crate::plan::Plan;
use crate::summary::{Draws, NeverEnded};

/// By place of the task and epoch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Again {
    draws: HashMap<(usize, u32), Drawn>,
    never_ended: BTreeMap<(usize, u32), Vec<u32>>,
}

/// What the later draws of a trial came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) attempts: u32,
    pub(crate) passed: u32,
}

impl Again {
    /// Attempts of trials that are not in the plan are left out, as their lines are.
    pub(crate) fn new(plan: &Plan<'_>, never_ended: &[BegunAttempt]) -> Self {
        let mut again = Self::default();
        for begun in never_ended {
            if let Some(place) = plan.planned(&begun.task, begun.epoch) {
                let attempts = again.never_ended.entry((place, begun.epoch)).or_default();
                attempts.push(begun.attempt);
            }
        }
        again
    }

    pub(crate) fn add_draw(&mut self, place: usize, line: &TrialLine) {
        let drawn = self.draws.entry((place, line.epoch)).or_default();
        drawn.attempts += 1;
        drawn.passed += u32::from(line.outcome == Outcome::Passed);
    }

    pub(crate) fn drawn(&self, place: usize, epoch: u32) -> Drawn {
        self.draws.get(&(place, epoch)).copied().unwrap_or_default()
    }

    /// Attempts of a trial that were begun and never ended.
    pub(crate) fn never_ended(&self, place: usize, epoch: u32) -> &[u32] {
        self.never_ended
            .get(&(place, epoch))
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn draws(&self) -> Option<Draws> {
        let all = || self.draws.values();
        (!self.draws.is_empty()).then(|| Draws {
            trials: self.draws.len() as u64,
            attempts: all().map(|drawn| u64::from(drawn.attempts)).sum(),
            passed: all().filter(|drawn| drawn.passed > 0).count() as u64,
        })
    }

    pub(crate) fn list(&self, manifest: &Manifest) -> Vec<NeverEnded> {
        let trials = self.never_ended.iter();
        let listed = trials.map(|((place, epoch), attempts)| NeverEnded {
            task: manifest.tasks[*place].task.to_string(),
            epoch: *epoch,
            attempts: attempts.clone(),
        });
        listed.collect()
    }
}
