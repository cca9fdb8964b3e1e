//! Checks of an answer that other crates bring: a pure function from what the agent gave with `finish` to
//! a score. Whatever it needs to know it carries along, so that a trial can be graded again.

use std::fmt;
use std::sync::Arc;

use crate::digest::Digest;
use crate::prediction::ScoredPrediction;

/// Scores an answer. Must be pure: the same answer, the same score.
pub trait AnswerTest: fmt::Debug + Send + Sync {
    /// How the check is called in reports.
    fn label(&self) -> String;

    /// Over everything that can change a score: part of the task's digest.
    fn digest(&self) -> Digest;

    /// The texts that it compares an answer with, for whoever looks for them elsewhere.
    fn expected(&self) -> Vec<String> {
        Vec::new()
    }

    /// `None`: the agent gave no answer.
    fn judge(&self, answer: Option<&str>) -> AnswerScore;
}

#[derive(Debug, Clone, PartialEq)]
pub struct AnswerScore {
    pub passed: bool,
    /// From 0 to 1.
    pub score: f64,
    pub reason: String,
    /// What was measured, in its own unit.
    pub value: Option<f64>,
    pub prediction: Option<Box<ScoredPrediction>>,
}

/// A test as a part of a task; two are equal if their digests are.
#[derive(Debug, Clone)]
pub struct AnswerCheck(Arc<dyn AnswerTest>);

impl AnswerCheck {
    pub fn new(test: impl AnswerTest + 'static) -> Self {
        Self(Arc::new(test))
    }
}

impl std::ops::Deref for AnswerCheck {
    type Target = dyn AnswerTest;
    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl PartialEq for AnswerCheck {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}
