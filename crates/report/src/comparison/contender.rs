//! One run of a comparison, gathered by task. Does not know the others.

use std::collections::HashMap;

use agon_core::verdict::Outcome;
use agon_store::{Manifest, StoreError};

use super::shape::ComparedCell;
use crate::run_report::RunReport;
use crate::tally::trial_score;

/// A run and what it made of each of its tasks.
#[derive(Debug)]
pub struct Contender<'a> {
    pub(super) id: String,
    pub(super) manifest: &'a Manifest,
    places: HashMap<String, usize>,
    tasks: Vec<TaskSum>,
}

/// A trial that has a result, as it counts: a person is believed before the checks.
#[derive(Debug, Clone, Copy)]
pub struct PlayedTrial<'t> {
    /// `category/id`.
    pub task: &'t str,
    pub epoch: u32,
    pub attempt: u32,
    pub outcome: Outcome,
    pub score: f64,
    pub seconds: f64,
    pub steps: u32,
    /// Dollars.
    pub money: Option<f64>,
    /// Something was used that has no known price.
    pub unpriced: bool,
}

/// Sums over the graded trials of a task.
#[derive(Debug, Clone, Default)]
struct TaskSum {
    passed: u32,
    failed: u32,
    faulted: u32,
    score: f64,
    seconds: f64,
    steps: f64,
    money: Option<f64>,
    unpriced: bool,
    /// Of the first epoch that has one, graded ones before others.
    attempt: Option<(Outcome, u32, u32)>,
}

impl<'a> Contender<'a> {
    /// `id` is what the run is called in the comparison.
    pub fn new(id: &str, manifest: &'a Manifest) -> Self {
        let places = manifest.tasks.iter().enumerate();
        Self {
            id: id.to_owned(),
            manifest,
            places: places
                .map(|(place, stamp)| (stamp.task.to_string(), place))
                .collect(),
            tasks: vec![TaskSum::default(); manifest.tasks.len()],
        }
    }

    /// Each trial once; those of tasks that are not in the plan are left out.
    pub fn add(&mut self, trial: &PlayedTrial<'_>) {
        let Some(place) = self.places.get(trial.task) else {
            return;
        };
        self.tasks[*place].add(trial);
    }

    pub(crate) fn of(run: &RunReport<'a>) -> Result<Self, StoreError> {
        let mut contender = Self::new(&run.manifest.run, run.manifest);
        run.each_trial(|trial| {
            let Some(line) = trial.line else { return };
            let used = &line.usage;
            contender.add(&PlayedTrial {
                task: &line.task.to_string(),
                epoch: line.epoch,
                attempt: line.attempt,
                outcome: line.outcome,
                score: line.score,
                seconds: line.seconds.total(),
                steps: line.steps,
                money: used.money.map(|money| money.picos() as f64 / 1e12),
                unpriced: used.unpriced_calls > 0 || (used.money.is_none() && !used.is_empty()),
            });
        })?;
        Ok(contender)
    }

    /// What it made of a task; `None` where that is not in its plan.
    pub(super) fn cell(&self, task: &str) -> Option<ComparedCell> {
        let sum = &self.tasks[*self.places.get(task)?];
        Some(sum.cell(self.manifest.epochs))
    }

    pub(super) fn place(&self, task: &str) -> Option<usize> {
        self.places.get(task).copied()
    }
}

impl TaskSum {
    fn add(&mut self, trial: &PlayedTrial<'_>) {
        match trial.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Faulted => self.faulted += 1,
        }
        let seen = (trial.outcome, trial.epoch, trial.attempt);
        let order = |(outcome, epoch, _): (Outcome, u32, u32)| (outcome == Outcome::Faulted, epoch);
        if self.attempt.is_none_or(|first| order(seen) < order(first)) {
            self.attempt = Some(seen);
        }
        if trial.outcome == Outcome::Faulted {
            return;
        }
        self.score += trial_score(trial.score);
        self.seconds += trial.seconds;
        self.steps += f64::from(trial.steps);
        if let Some(money) = trial.money {
            self.money = Some(self.money.unwrap_or(0.0) + money);
        }
        self.unpriced |= trial.unpriced;
    }

    fn cell(&self, epochs: u32) -> ComparedCell {
        let graded = self.passed + self.failed;
        let mean = |sum: f64, places: f64| {
            (graded > 0).then(|| (sum / f64::from(graded) * places).round() / places)
        };
        ComparedCell {
            score: mean(self.score, 1e9),
            // Nobody compares microseconds, and long lists stay short.
            seconds: mean(self.seconds, 1e3),
            steps: mean(self.steps, 1e3),
            money: self.money.and_then(|money| mean(money, 1e9)),
            unpriced: self.unpriced,
            passed: self.passed,
            graded,
            faulted: self.faulted,
            missing: epochs.saturating_sub(graded + self.faulted),
            attempt: self.attempt.map(|(_, epoch, attempt)| (epoch, attempt)),
        }
    }
}
