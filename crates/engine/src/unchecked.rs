//! Verdicts that no check was needed for, and what is said beside those of checks.

use agon_core::verdict::{CheckResult, Verdict};

/// An agent that took our screen away failed: that is no way out of a check.
pub(crate) fn screen_gone() -> Verdict {
    failed("screen", "the agent's screen was gone before its last look")
}

/// An agent that left nothing to look at failed.
pub(crate) fn failed(what: &str, why: &str) -> Verdict {
    Verdict {
        passed: false,
        score: 0.0,
        checks: vec![CheckResult {
            passed: false,
            score: 0.0,
            weight: 1.0,
            ..remark(what, why)
        }],
    }
}

/// Stands beside checks without being one: it changes no score.
pub(crate) fn remark(what: &str, why: &str) -> CheckResult {
    CheckResult {
        weight: 0.0,
        ..CheckResult::plain(what, true, why)
    }
}
