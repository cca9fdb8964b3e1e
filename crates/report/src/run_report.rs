//! One run as a report sees it: its manifest, its summary, and its trials, read again when a format
//! lists them, so that they never lie in memory all at once.

use std::fmt;

use agon_core::verdict::Outcome;
use agon_store::{Manifest, RunReader, StoreError, TaskStamp, TrialLine};

use crate::plan::{Part, Plan};
use crate::summary::Summary;
use crate::tally::Tally;

/// Something that can show a run's lines, as often as it is asked.
pub trait Trials: fmt::Debug {
    fn visit(&self, each: &mut dyn FnMut(TrialLine)) -> Result<(), StoreError>;
}

impl Trials for RunReader {
    fn visit(&self, each: &mut dyn FnMut(TrialLine)) -> Result<(), StoreError> {
        // A torn last line is an attempt that did not count; its trial shows as missing.
        self.for_each_trial(each).map(|_torn| ())
    }
}

impl Trials for Vec<TrialLine> {
    fn visit(&self, each: &mut dyn FnMut(TrialLine)) -> Result<(), StoreError> {
        self.iter().cloned().for_each(each);
        Ok(())
    }
}

#[derive(Debug)]
pub struct RunReport<'a> {
    pub manifest: &'a Manifest,
    pub summary: Summary,
    trials: &'a dyn Trials,
}

/// A planned trial and what became of it.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) task: &'a TaskStamp,
    pub(crate) epoch: u32,
    /// `None`: missing.
    pub(crate) line: Option<TrialLine>,
}

impl<'a> RunReport<'a> {
    /// Reads the trials once and adds them up.
    pub fn new(manifest: &'a Manifest, trials: &'a dyn Trials) -> Result<Self, StoreError> {
        let mut tally = Tally::new(manifest);
        trials.visit(&mut |line| tally.add(&line))?;
        Ok(Self {
            manifest,
            summary: tally.summary(),
            trials,
        })
    }

    /// What the run played, for titles.
    pub(crate) fn suites(&self) -> String {
        let names: Vec<&str> = self
            .manifest
            .suites
            .iter()
            .map(|suite| suite.name.as_str())
            .collect();
        names.join(", ")
    }

    /// Every planned trial once: those with a result in the order of the record, then the missing.
    pub(crate) fn each_trial(&self, mut each: impl FnMut(Trial<'a>)) -> Result<(), StoreError> {
        let mut plan = Plan::new(self.manifest);
        self.trials.visit(&mut |line| {
            if let Part::Final(place) = plan.place(&line) {
                each(Trial {
                    task: &self.manifest.tasks[place],
                    epoch: line.epoch,
                    line: Some(line),
                });
            }
        })?;
        for (task, epoch) in plan.missing() {
            each(Trial {
                task,
                epoch,
                line: None,
            });
        }
        Ok(())
    }
}

impl Trial<'_> {
    pub(crate) fn outcome(&self) -> &'static str {
        self.line
            .as_ref()
            .map_or("missing", |line| line.outcome.name())
    }

    pub(crate) fn passed(&self) -> bool {
        self.line
            .as_ref()
            .is_some_and(|line| line.outcome == Outcome::Passed)
    }

    /// Null for trials that are not graded: a fault is not a failure.
    pub(crate) fn score(&self) -> Option<f64> {
        let line = self.line.as_ref()?;
        (line.outcome != Outcome::Faulted).then_some(line.score)
    }

    /// What was measured, where it counts.
    pub(crate) fn measured(&self) -> Option<f64> {
        let line = self.line.as_ref()?;
        let measured = line.measured.filter(|value| value.is_finite());
        measured.filter(|_| line.outcome != Outcome::Faulted)
    }

    /// Why it did not pass, in one text.
    pub(crate) fn why(&self) -> String {
        let Some(line) = &self.line else {
            return "no result yet: resume the run".to_owned();
        };
        let cause = match &line.fault {
            Some(fault) if line.outcome == Outcome::Faulted => fault.to_string(),
            _ => line.reason.clone(),
        };
        match &line.integrity {
            Some(sign) if cause.is_empty() => format!("tampering: {sign}"),
            Some(sign) => format!("{cause}; tampering: {sign}"),
            None => cause,
        }
    }

    pub(crate) fn marks(&self) -> Vec<&'static str> {
        let Some(line) = &self.line else {
            return Vec::new();
        };
        let marks = [
            (line.retried, "retried"),
            (line.rerun, "rerun"),
            (line.tainted, "tainted"),
            (line.integrity.is_some(), "integrity"),
        ];
        marks
            .into_iter()
            .filter_map(|(is, name)| is.then_some(name))
            .collect()
    }

    /// The trial's name; the epoch is left out where there is only one.
    pub(crate) fn name(&self, epochs: u32) -> String {
        if epochs > 1 {
            format!("{}#{}", self.task.task, self.epoch)
        } else {
            self.task.task.to_string()
        }
    }
}
