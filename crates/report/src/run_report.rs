//! One run as a report sees it: its manifest, its summary, and its trials, read again when a format
//! lists them, so that they never lie in memory all at once.

use std::fmt;
use std::ops::ControlFlow;

use agon_core::prediction::ScoredPrediction;
use agon_core::verdict::Outcome;
use agon_core::{EventBody, ModelCall};
use agon_store::{Audit, Manifest, Review, Reviews, RunReader, StoreError, TaskStamp, TrialLine};
use serde_json::Value;

use crate::again::{Again, Drawn};
use crate::people::{Seen, disagrees};
use crate::plan::{Part, Plan, as_they_count};
use crate::prediction::{is_prediction_run, of_verdict};
use crate::summary::Summary;
use crate::tally::Tally;

/// Takes a line, and says whether to go on.
pub type Each<'a> = dyn FnMut(TrialLine) -> ControlFlow<()> + 'a;

/// Something that can show a run's lines, as often as it is asked.
pub trait Trials: fmt::Debug {
    /// In the order in which they were written; of the final lines of a trial only the last one is final,
    /// whatever others say of themselves. Until `each` has had enough.
    fn visit(&self, each: &mut Each<'_>) -> Result<(), StoreError>;

    /// What people say about its trials.
    fn reviews(&self) -> Result<Reviews, StoreError> {
        Ok(Reviews::default())
    }

    /// Whether the record agrees with itself, where there is one.
    fn audit(&self) -> Result<Option<Audit>, StoreError> {
        Ok(None)
    }

    /// What was predicted in a trial and how it was scored, if that is what it was about.
    fn prediction(&self, _: &TrialLine) -> Result<Option<ScoredPrediction>, StoreError> {
        Ok(None)
    }

    /// What was noted while it was played.
    fn notes(&self, _: &TrialLine) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// The last request to a model in a trial, as it was sent.
    fn asked(&self, _: &TrialLine) -> Result<Option<Value>, StoreError> {
        Ok(None)
    }
}

impl Trials for RunReader {
    fn visit(&self, each: &mut Each<'_>) -> Result<(), StoreError> {
        // A torn last line is an attempt that did not count; its trial shows as missing.
        self.for_each_trial_while(each).map(|_torn| ())
    }

    fn reviews(&self) -> Result<Reviews, StoreError> {
        Reviews::read(self.folder())
    }

    fn audit(&self) -> Result<Option<Audit>, StoreError> {
        self.audit().cloned().map(Some)
    }

    fn prediction(&self, line: &TrialLine) -> Result<Option<ScoredPrediction>, StoreError> {
        Ok(self.verdict(line)?.and_then(of_verdict))
    }

    fn notes(&self, line: &TrialLine) -> Result<Vec<String>, StoreError> {
        self.notes(line)
    }

    fn asked(&self, line: &TrialLine) -> Result<Option<Value>, StoreError> {
        let calls = self.events(line)?.into_iter().rev();
        let last = calls.into_iter().find_map(|event| match event.body {
            EventBody::Model(ModelCall { request, .. }) => request,
            _ => None,
        });
        last.map(|said| self.said(&said)).transpose()
    }
}

impl Trials for Vec<TrialLine> {
    fn visit(&self, each: &mut Each<'_>) -> Result<(), StoreError> {
        let _ = as_they_count(self).try_for_each(each);
        Ok(())
    }
}

#[derive(Debug)]
pub struct RunReport<'a> {
    pub manifest: &'a Manifest,
    pub summary: Summary,
    trials: &'a dyn Trials,
    reviews: Reviews,
    again: Again,
}

/// A planned trial and what became of it.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    pub(crate) task: &'a TaskStamp,
    pub(crate) epoch: u32,
    /// `None`: missing. As it counts: a person is believed before the checks.
    pub(crate) line: Option<TrialLine>,
    /// What the checks say, and who says something else or the same.
    pub(crate) checks: Option<Outcome>,
    pub(crate) review: Option<Review>,
    /// Draws after the verdict that counts.
    pub(crate) drawn: Drawn,
    /// Attempts that were begun and never ended.
    pub(crate) never_ended: u32,
}

impl<'a> RunReport<'a> {
    /// Reads the trials once and adds them up.
    pub fn new(manifest: &'a Manifest, trials: &'a dyn Trials) -> Result<Self, StoreError> {
        let reviews = trials.reviews()?;
        let mut tally = Tally::new(manifest, reviews.clone(), trials.audit()?);
        let mut unread = None;
        let predicts = is_prediction_run(manifest);
        trials.visit(&mut |line| {
            let result = tally.add(&line);
            if let (true, Some(place)) = (predicts, result) {
                let found = trials.prediction(&line);
                match found.and_then(|found| Ok((found, trials.notes(&line)?))) {
                    Ok((Some(prediction), notes)) => {
                        tally.add_prediction(place, &line, &prediction, &notes);
                    }
                    Ok((None, _)) => {}
                    Err(error) => unread = Some(error),
                }
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = unread {
            return Err(error);
        }
        Ok(Self {
            manifest,
            again: tally.again(),
            summary: tally.summary(),
            trials,
            reviews,
        })
    }

    /// What was predicted in one of its trials.
    pub(crate) fn prediction(
        &self,
        line: &TrialLine,
    ) -> Result<Option<ScoredPrediction>, StoreError> {
        match &self.summary.predictions {
            Some(_) => self.trials.prediction(line),
            None => Ok(None),
        }
    }

    pub(crate) fn asked(&self, line: &TrialLine) -> Result<Option<Value>, StoreError> {
        self.trials.asked(line)
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
        self.each_trial_while(|trial| {
            each(trial);
            ControlFlow::Continue(())
        })
    }

    /// The same until `each` has had enough; what follows is not read.
    pub(crate) fn each_trial_while(
        &self,
        mut each: impl FnMut(Trial<'a>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut plan = Plan::new(self.manifest);
        let mut enough = false;
        self.trials.visit(&mut |line| {
            if let Part::Final(place) = plan.place(&line) {
                let seen = Seen::new(line, &self.reviews);
                let epoch = seen.line.epoch;
                let next = each(Trial {
                    drawn: self.again.drawn(place, epoch),
                    never_ended: self.again.never_ended(place, epoch).len() as u32,
                    task: &self.manifest.tasks[place],
                    epoch: seen.line.epoch,
                    checks: Some(seen.checks),
                    review: seen.review,
                    line: Some(seen.line),
                });
                enough = next.is_break();
                return next;
            }
            ControlFlow::Continue(())
        })?;
        if enough {
            return Ok(());
        }
        for (task, epoch) in plan.missing() {
            let place = plan.planned(&task.task, epoch);
            let never_ended = place.map_or(&[][..], |place| self.again.never_ended(place, epoch));
            let next = each(Trial {
                drawn: Drawn::default(),
                never_ended: never_ended.len() as u32,
                task,
                epoch,
                line: None,
                checks: None,
                review: None,
            });
            if next.is_break() {
                break;
            }
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
            return match self.never_ended {
                0 => "no result yet: resume the run".to_owned(),
                1 => "no result yet, 1 attempt never ended: resume the run".to_owned(),
                many => format!("no result yet, {many} attempts never ended: resume the run"),
            };
        };
        let cause = match &line.fault {
            Some(fault) if self.checks == Some(Outcome::Faulted) => fault.to_string(),
            _ => line.reason.clone(),
        };
        let cause = match (self.said(), cause.is_empty()) {
            (Some(said), true) => said,
            (Some(said), false) => format!("{said}; checks: {cause}"),
            (None, _) => cause,
        };
        match &line.integrity {
            Some(sign) if cause.is_empty() => format!("tampering: {sign}"),
            Some(sign) => format!("{cause}; tampering: {sign}"),
            None => cause,
        }
    }

    /// What a person says, in one text.
    pub(crate) fn said(&self) -> Option<String> {
        let review = self.review.as_ref()?;
        let who = match review.reviewer.as_str() {
            "" => "a person",
            name => name,
        };
        let outcome = self.outcome();
        Some(match review.comment.as_str() {
            "" => format!("{outcome}, says {who}"),
            comment => format!("{outcome}, says {who}: {comment}"),
        })
    }

    /// Whether a person says something else than the checks.
    fn disagreed(&self) -> bool {
        let (Some(checks), Some(line)) = (self.checks, &self.line) else {
            return false;
        };
        disagrees(checks, line.outcome)
    }

    pub(crate) fn marks(&self) -> Vec<&'static str> {
        let never_ended = self.never_ended > 0;
        let Some(line) = &self.line else {
            return never_ended.then_some("never ended").into_iter().collect();
        };
        let marks = [
            (never_ended, "never ended"),
            (self.drawn.attempts > 0, "drawn again"),
            (line.retried, "retried"),
            (line.rerun, "rerun"),
            (line.tainted, "tainted"),
            (line.integrity.is_some(), "integrity"),
            (self.review.is_some(), "reviewed"),
            (self.disagreed(), "disagreed"),
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
