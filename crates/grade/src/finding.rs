//! What one check found: the common form before it becomes a [`CheckResult`].

use agon_core::answer::AnswerScore;
use agon_core::check::Check;
use agon_core::prediction::ScoredPrediction;
use agon_core::{CheckOutput, CheckResult, Fault, FaultClass, Judged};

use crate::reason::bounded;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub passed: bool,
    pub score: f64,
    pub reason: String,
    pub integrity: Option<String>,
    pub tainted: bool,
    pub output: Option<CheckOutput>,
    /// What was measured, in its own unit.
    pub value: Option<f64>,
    pub prediction: Option<Box<ScoredPrediction>>,
    pub judged: Option<Box<Judged>>,
    pub parts: Vec<CheckResult>,
}

impl Finding {
    pub(crate) fn pass(reason: impl Into<String>) -> Self {
        Self::graded(true, 1.0, reason)
    }

    pub(crate) fn fail(reason: impl Into<String>) -> Self {
        Self::graded(false, 0.0, reason)
    }

    pub(crate) fn graded(passed: bool, score: f64, reason: impl Into<String>) -> Self {
        Self {
            passed,
            score,
            reason: reason.into(),
            integrity: None,
            tainted: false,
            output: None,
            value: None,
            prediction: None,
            judged: None,
            parts: Vec::new(),
        }
    }

    /// From a test that another crate brought, whose score is bounded here.
    pub(crate) fn answered(score: AnswerScore) -> Self {
        Self {
            value: score.value,
            prediction: score.prediction,
            ..Self::graded(score.passed, score.score.clamp(0.0, 1.0), score.reason)
        }
    }

    /// From a judge: the reasoning of the first vote that was in the majority.
    pub(crate) fn judged(passed: bool, judged: Judged) -> Self {
        let voted = judged.votes.iter().find(|vote| vote.passed == passed);
        let nothing = || "there was nothing to judge, and the judge was not asked".to_owned();
        let reason = voted.map_or_else(nothing, |vote| vote.reasoning.clone());
        let order = judged.suspicious.first();
        Self {
            integrity: order.map(|text| format!("words that give orders to a judge: {text}")),
            judged: Some(Box::new(judged)),
            ..Self::graded(passed, f64::from(u8::from(passed)), reason)
        }
    }

    /// Failed, and there are signs of tampering.
    pub(crate) fn tampered(sign: &str, reason: impl Into<String>) -> Self {
        Self {
            integrity: Some(sign.to_owned()),
            ..Self::fail(reason)
        }
    }

    /// From a test that says what is wrong, if anything is.
    pub(crate) fn unless(wrong: Option<String>, right: impl FnOnce() -> String) -> Self {
        wrong.map_or_else(|| Self::pass(right()), Self::fail)
    }

    pub(crate) fn into_result(self, check: &Check) -> CheckResult {
        CheckResult {
            check: bounded(&check.label()),
            passed: self.passed,
            score: self.score,
            reason: bounded(&self.reason),
            weight: check.weight,
            tainted: self.tainted,
            integrity: self.integrity,
            output: self.output,
            value: self.value,
            prediction: self.prediction,
            judged: self.judged,
            parts: self.parts,
        }
    }
}

/// The check itself is no good: nobody's failure but the task's.
pub(crate) fn bad_check(why: impl std::fmt::Display) -> Fault {
    Fault::new(FaultClass::Check, why)
}
