//! What of a trial's verdict is the judge's own, and what programs have decided before it was of any matter.

use agon_core::CheckResult;

/// What a judge says about a trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    pub(super) passed: bool,
    pub(super) confidence: f64,
    pub(super) reasoning: String,
}

/// Who decided about a check.
enum Weight {
    Program(bool),
    Judge(Said),
}

impl Weight {
    const fn passed(&self) -> bool {
        match self {
            Self::Program(passed) => *passed,
            Self::Judge(said) => said.passed,
        }
    }
}

/// Whether a judge was asked about any of them.
pub(super) fn asked(checks: &[CheckResult]) -> bool {
    let one = |check: &CheckResult| check.judged.is_some() || asked(&check.parts);
    checks.iter().any(one)
}

/// What the judged checks of a trial come to. `None`: none was judged, or a program made it fail whatever the
/// judge said.
pub(super) fn said(checks: &[CheckResult]) -> Option<Said> {
    match together(checks, checks.iter().all(|check| check.passed))? {
        Weight::Judge(said) => Some(said),
        Weight::Program(_) => None,
    }
}

fn weight(check: &CheckResult) -> Weight {
    if let Some(judged) = &check.judged {
        return Weight::Judge(Said {
            passed: check.passed,
            confidence: judged.confidence(check.passed),
            reasoning: check.reason.clone(),
        });
    }
    together(&check.parts, check.passed).unwrap_or(Weight::Program(check.passed))
}

/// Parts of a whole that came out like this: those that came out the same have decided it, and where a program
/// is among those, it would have been so without a judge.
fn together(parts: &[CheckResult], passed: bool) -> Option<Weight> {
    let parts: Vec<Weight> = parts.iter().map(weight).collect();
    // All had to pass, and did: each of them was needed, and the judge could have made it fail.
    let unanimous = passed && parts.iter().all(Weight::passed);
    let mut first = None;
    for part in parts.into_iter().filter(|part| part.passed() == passed) {
        match part {
            Weight::Program(_) if !unanimous => return Some(part),
            Weight::Judge(_) if !matches!(first, Some(Weight::Judge(_))) => first = Some(part),
            part => first = first.or(Some(part)),
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use agon_core::{Judged, Usage};

    use super::*;

    fn program(passed: bool) -> CheckResult {
        CheckResult::plain("check", passed, "reason")
    }

    fn judged(passed: bool) -> CheckResult {
        CheckResult {
            judged: Some(Box::new(Judged {
                model: "mock/judge".to_owned(),
                votes: Vec::new(),
                usage: Usage::default(),
                frames: None,
                suspicious: Vec::new(),
            })),
            ..program(passed)
        }
    }

    fn of(passed: bool, parts: Vec<CheckResult>) -> CheckResult {
        CheckResult {
            parts,
            ..program(passed)
        }
    }

    fn verdict(checks: &[CheckResult]) -> Option<bool> {
        said(checks).map(|said| said.passed)
    }

    #[test]
    fn a_judge_answers_for_what_is_its_own() {
        assert_eq!(verdict(&[judged(true)]), Some(true));
        assert_eq!(verdict(&[judged(false), program(true)]), Some(false));
        assert_eq!(verdict(&[program(true), judged(true)]), Some(true));
        assert_eq!(verdict(&[program(true)]), None);
        // A program has failed it: nobody knows what the person thinks of the rest.
        assert_eq!(verdict(&[judged(true), program(false)]), None);
        assert_eq!(verdict(&[judged(false), program(false)]), None);
    }

    #[test]
    fn one_of_several_that_passes_is_enough() {
        let any = of(true, vec![judged(false), judged(true)]);
        assert_eq!(verdict(&[any]), Some(true));
        let without = of(true, vec![judged(false), program(true)]);
        assert_eq!(verdict(&[without]), None);
        let none = of(false, vec![judged(false), judged(false)]);
        assert_eq!(verdict(&[none, program(true)]), Some(false));
    }
}
