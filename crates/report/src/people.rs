//! What people said about the trials of a run, beside what its checks say. A person is believed before the
//! checks, so that every other number of a report is of what counts.

use std::collections::BTreeMap;

use agon_core::TaskId;
use agon_core::verdict::Outcome;
use agon_stats::Cluster;
use agon_store::{Review, Reviews, TrialLine};
use schemars::JsonSchema;
use serde::Serialize;

use crate::confidence::Interval;
use crate::text::clip;

/// As much of a comment as a list has room for.
const COMMENT: usize = 300;

/// A line as it counts, what its checks say, and the person who says otherwise or the same.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) line: TrialLine,
    pub(crate) checks: Outcome,
    pub(crate) review: Option<Review>,
}

impl Seen {
    pub(crate) fn new(mut line: TrialLine, reviews: &Reviews) -> Self {
        let checks = line.outcome;
        // What was said about an attempt that was played again decides nothing.
        let review = if line.is_final {
            reviews.verdict(&line).cloned()
        } else {
            None
        };
        if let Some(outcome) = review.as_ref().and_then(|review| review.verdict.outcome()) {
            line.outcome = outcome;
            line.score = f64::from(u8::from(outcome == Outcome::Passed));
        }
        Self {
            line,
            checks,
            review,
        }
    }

    fn disagrees(&self) -> bool {
        disagrees(self.checks, self.line.outcome)
    }
}

/// A fault is no opinion.
pub(crate) fn disagrees(checks: Outcome, person: Outcome) -> bool {
    checks != Outcome::Faulted && checks != person
}

/// Of trials whose result a person has looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct People {
    /// Trials with a verdict of a person that holds.
    pub reviewed: u64,
    pub passed: u64,
    pub failed: u64,
    /// Reviewed trials that had ended in a fault: only the person has decided them.
    pub undecided_by_checks: u64,
    /// Trials that passed by their checks and failed by a person.
    pub false_passes: u64,
    /// Trials that failed by their checks and passed by a person.
    pub false_fails: u64,
    /// Share of reviewed trials, those without a verdict by checks left out, about which both disagree.
    pub disagreement: Option<f64>,
    pub disagreement_ci: Option<Interval>,
    /// Names of the reviewers whose verdicts hold, in alphabetical order.
    pub reviewers: Vec<String>,
    /// Where person and checks disagree, in the order of the record.
    pub disagreements: Vec<Disagreement>,
    /// Disagreements and trials that both say something of, by task: reviews of one task are alike.
    #[serde(skip)]
    by_task: BTreeMap<TaskId, Cluster>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disagreement {
    pub task: String,
    pub epoch: u32,
    pub checks: Outcome,
    pub person: Outcome,
    pub reviewer: String,
    pub comment: String,
}

impl People {
    /// Of how many trials both say something.
    pub fn compared(&self) -> u64 {
        self.reviewed - self.undecided_by_checks
    }

    pub fn disagreed(&self) -> u64 {
        self.false_passes + self.false_fails
    }

    /// `None` where nobody has looked at anything.
    pub(crate) fn total(mut self) -> Option<Self> {
        let (disagreed, compared) = (self.disagreed(), self.compared());
        if compared > 0 {
            self.disagreement = Some(disagreed as f64 / compared as f64);
            let tasks: Vec<Cluster> = self.by_task.values().copied().collect();
            self.disagreement_ci = Interval::over_tasks(&tasks);
        }
        (self.reviewed > 0).then_some(self)
    }

    pub(crate) fn add(&mut self, seen: &Seen) {
        let Some(review) = &seen.review else { return };
        self.reviewed += 1;
        match seen.line.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed | Outcome::Faulted => self.failed += 1,
        }
        if !review.reviewer.is_empty()
            && let Err(place) = self.reviewers.binary_search(&review.reviewer)
        {
            self.reviewers.insert(place, review.reviewer.clone());
        }
        match (seen.checks, seen.line.outcome) {
            (Outcome::Faulted, _) => self.undecided_by_checks += 1,
            (Outcome::Passed, Outcome::Failed) => self.false_passes += 1,
            (Outcome::Failed, Outcome::Passed) => self.false_fails += 1,
            _ => {}
        }
        if seen.checks != Outcome::Faulted {
            let task = self
                .by_task
                .entry(seen.line.task.clone())
                .or_insert(Cluster {
                    sum: 0.0,
                    weight: 0.0,
                });
            task.sum += f64::from(u8::from(seen.disagrees()));
            task.weight += 1.0;
        }
        if seen.disagrees() {
            self.disagreements.push(Disagreement {
                task: seen.line.task.to_string(),
                epoch: seen.line.epoch,
                checks: seen.checks,
                person: seen.line.outcome,
                reviewer: review.reviewer.clone(),
                comment: clip(&review.comment, COMMENT),
            });
        }
    }
}
