//! What people say about trials: `reviews.jsonl` of the run folder, appended only, so that nothing is lost
//! when several review at once. Knows nothing of how a review is entered.

use std::collections::HashMap;
use std::io::BufReader;

use agon_core::TaskId;
use agon_core::verdict::Outcome;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::shared_lines::{self, LONGEST_NAME, clean, each_line, one_line, open_shared};
use crate::stored::TrialLine;

/// Characters of a comment that are kept.
pub const LONGEST_COMMENT: usize = 10_000;

/// Bytes of all lines that are kept in memory: some hundred thousand reviews.
const MOST_KEPT: usize = 64 << 20;

/// One line of `reviews.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    pub at: Timestamp,
    pub task: TaskId,
    pub epoch: u32,
    /// The attempt that was played: a review is of what was done, not of how it was graded.
    pub attempt: u32,
    pub verdict: ReviewVerdict,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Who says so; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reviewer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    Pass,
    Fail,
    /// Takes back what was said before.
    Clear,
}

impl ReviewVerdict {
    /// What the trial counts as; `None`: what the checks say.
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Pass => Some(Outcome::Passed),
            Self::Fail => Some(Outcome::Failed),
            Self::Clear => None,
        }
    }
}

/// Every review of a run, by trial.
#[derive(Debug, Clone, Default)]
pub struct Reviews {
    by_trial: HashMap<(TaskId, u32, u32), Vec<Review>>,
    unread: u64,
}

impl Reviews {
    /// Without any where there is no such file. Lines that can't be read, such as one that was torn by a
    /// crash, are left out and counted, as is what there would be no room for.
    pub fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let path = folder.reviews_file();
        let mut reviews = Self::default();
        let Some(file) = open_shared(&path).map_err(StoreError::io("can't read", &path))? else {
            return Ok(reviews);
        };
        let mut room = MOST_KEPT;
        each_line(BufReader::new(file), |line| {
            let left = line.and_then(|line| room.checked_sub(line.len()));
            let review = line.filter(|_| left.is_some());
            match review.map(serde_json::from_slice::<Review>) {
                Some(Ok(review)) => {
                    room = left.unwrap_or(0);
                    reviews.add(review);
                }
                Some(Err(_)) | None => reviews.unread += 1,
            }
        })
        .map_err(StoreError::io("can't read", &path))?;
        Ok(reviews)
    }

    pub fn add(&mut self, review: Review) {
        let key = (review.task.clone(), review.epoch, review.attempt);
        self.by_trial.entry(key).or_default().push(review);
    }

    /// All that was said about a trial, in order.
    pub fn history(&self, line: &TrialLine) -> &[Review] {
        self.of(&line.task, line.epoch, played_in(line))
    }

    /// The same of a trial whose line is not at hand, by the attempt that it was played in.
    pub fn of(&self, task: &TaskId, epoch: u32, attempt: u32) -> &[Review] {
        let key = (task.clone(), epoch, attempt);
        self.by_trial.get(&key).map_or(&[], Vec::as_slice)
    }

    /// What holds: the last verdict, unless it was taken back.
    pub fn verdict(&self, line: &TrialLine) -> Option<&Review> {
        standing(self.history(line))
    }

    /// What a trial counts as: a person is believed before checks and faults.
    pub fn outcome(&self, line: &TrialLine) -> Outcome {
        let said = self
            .verdict(line)
            .and_then(|review| review.verdict.outcome());
        said.unwrap_or(line.outcome)
    }

    pub fn is_empty(&self) -> bool {
        self.by_trial.is_empty()
    }

    /// Lines that could not be read.
    pub fn unread(&self) -> u64 {
        self.unread
    }
}

/// The review of a history that holds.
pub fn standing(history: &[Review]) -> Option<&Review> {
    let last = history.last()?;
    (last.verdict != ReviewVerdict::Clear).then_some(last)
}

/// The attempt that a trial's review is of.
pub fn played_in(line: &TrialLine) -> u32 {
    line.played_in.unwrap_or(line.attempt)
}

impl Review {
    /// Of what was done in the trial that `line` tells of. Words are cleaned and cut to what is kept.
    pub fn of(
        line: &TrialLine,
        verdict: ReviewVerdict,
        comment: &str,
        reviewer: &str,
        at: Timestamp,
    ) -> Self {
        Self {
            at,
            task: line.task.clone(),
            epoch: line.epoch,
            attempt: played_in(line),
            verdict,
            comment: clean(comment.trim(), LONGEST_COMMENT),
            reviewer: one_line(reviewer, LONGEST_NAME),
        }
    }

    /// Appends it to the run's reviews: one write, which others' can't cut in two. After a torn line it
    /// begins a line of its own.
    pub fn append(&self, folder: &RunFolder) -> Result<(), StoreError> {
        let path = folder.reviews_file();
        let cleaned = Self {
            comment: clean(&self.comment, LONGEST_COMMENT),
            reviewer: one_line(&self.reviewer, LONGEST_NAME),
            ..self.clone()
        };
        shared_lines::append(&path, &cleaned).map_err(StoreError::io("can't write", &path))
    }
}

#[cfg(test)]
#[path = "reviews_tests.rs"]
mod tests;
