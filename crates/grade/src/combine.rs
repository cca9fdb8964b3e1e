//! From the results of parts to that of the whole. Parts that could not be carried out are kept apart
//! from parts that failed: a fault in a part is a fault of the whole unless the rest settles it. One
//! part that scores nothing settles `all`, but not under partial credit, where the mean needs every
//! part; one that passes with full score settles `any`.

use agon_core::check::Check;
use agon_core::{CheckResult, Fault};

use crate::finding::{Finding, bad_check};

/// What `all` gives when some of its parts pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credit {
    /// The score of the worst part.
    Full,
    /// The weighted mean.
    Partial,
}

type Part = Result<CheckResult, Fault>;

/// The results are those of the checks, in the same order.
pub(crate) fn all(checks: &[Check], results: Vec<Part>, credit: Credit) -> Result<Finding, Fault> {
    let mut parts = Vec::with_capacity(results.len());
    let (mut unknowns, mut fault) = (Vec::new(), None);
    for (check, result) in checks.iter().zip(results) {
        match result {
            Ok(part) => parts.push(part),
            Err(error) => {
                let unknown = Finding::fail(format!("could not be carried out: {error}"));
                unknowns.push(unknown.into_result(check));
                fault = fault.or(Some(error));
            }
        }
    }
    // One part at 0 settles full credit; a mean needs every part.
    let settled = credit == Credit::Full && parts.iter().any(|part| part.score == 0.0);
    if let Some(fault) = fault
        && !settled
    {
        return Err(fault);
    }
    let score = match credit {
        Credit::Full => parts.iter().map(|part| part.score).fold(1.0, f64::min),
        Credit::Partial => mean(&parts)?,
    };
    let passed = parts.iter().all(|part| part.passed);
    parts.append(&mut unknowns);
    combined(passed, score, parts)
}

/// Whether `any` needs to look no further.
pub(crate) fn is_enough(result: &Part) -> bool {
    matches!(result, Ok(part) if part.passed && part.score >= 1.0)
}

pub(crate) fn any(results: Vec<Part>) -> Result<Finding, Fault> {
    let settled = results.iter().any(is_enough);
    let (mut parts, mut fault) = (Vec::new(), None);
    for result in results {
        match result {
            Ok(part) => parts.push(part),
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    if let Some(fault) = fault
        && !settled
    {
        return Err(fault);
    }
    let score = parts.iter().map(|part| part.score).fold(0.0, f64::max);
    let passed = parts.iter().any(|part| part.passed);
    combined(passed, score, parts)
}

/// The weighted mean of the scores.
fn mean(parts: &[CheckResult]) -> Result<f64, Fault> {
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if parts.iter().any(|part| part.weight < 0.0) || !(total > 0.0 && total.is_finite()) {
        return Err(bad_check(
            "the weights of the parts must not be negative, and one must be above 0",
        ));
    }
    let sum: f64 = parts.iter().map(|part| part.weight * part.score).sum();
    Ok((sum / total).clamp(0.0, 1.0))
}

fn combined(passed: bool, score: f64, parts: Vec<CheckResult>) -> Result<Finding, Fault> {
    if parts.is_empty() {
        return Err(bad_check("it has no parts, so nothing was checked"));
    }
    let count = parts.iter().filter(|part| part.passed).count();
    let reason = format!("{count} of {} parts passed", parts.len());
    Ok(Finding {
        tainted: parts.iter().any(|part| part.tainted),
        parts,
        ..Finding::graded(passed, score, reason)
    })
}

#[cfg(test)]
mod tests {
    use agon_core::check::CheckKind;

    use super::*;

    fn check(weight: f64) -> Check {
        let kind = CheckKind::ReturnedResult { tests: vec![] };
        Check {
            name: None,
            weight,
            kind,
        }
    }

    fn scored(score: f64, weight: f64) -> Part {
        Ok(Finding::graded(score >= 1.0, score, "").into_result(&check(weight)))
    }

    fn broken() -> Part {
        Err(bad_check("broken"))
    }

    fn all_of(results: Vec<Part>, credit: Credit) -> Result<Finding, Fault> {
        let checks: Vec<_> = results.iter().map(|_| check(1.0)).collect();
        all(&checks, results, credit)
    }

    #[test]
    fn partial_credit_is_the_weighted_mean() {
        let found = all_of(vec![scored(1.0, 3.0), scored(0.0, 1.0)], Credit::Partial).unwrap();
        assert_eq!(
            (found.passed, found.score, found.parts.len()),
            (false, 0.75, 2)
        );
    }

    #[test]
    fn weights_must_add_up_to_something() {
        for [one, other] in [[0.0, 0.0], [-1.0, 2.0], [f64::NAN, 1.0]] {
            let parts = vec![scored(1.0, one), scored(1.0, other)];
            assert!(all_of(parts, Credit::Partial).is_err());
        }
    }

    #[test]
    fn without_partial_credit_the_worst_part_is_the_score() {
        for (worst, other) in [(0.5, 1.0), (0.0, 0.5)] {
            let found = all_of(vec![scored(other, 1.0), scored(worst, 1.0)], Credit::Full).unwrap();
            assert_eq!((found.passed, found.score), (false, worst));
        }
    }

    #[test]
    fn a_failure_is_not_turned_into_a_fault_by_a_part_that_broke() {
        let found = all_of(vec![broken(), scored(0.0, 1.0)], Credit::Full).unwrap();
        assert_eq!(
            (found.passed, found.score, found.parts.len()),
            (false, 0.0, 2)
        );
        for score in [1.0, 0.5] {
            assert!(all_of(vec![broken(), scored(score, 1.0)], Credit::Full).is_err());
        }
        assert!(all_of(vec![broken(), scored(0.0, 1.0)], Credit::Partial).is_err());
    }

    #[test]
    fn any_is_as_good_as_its_best_and_faults_when_none_is_sure() {
        let found = any(vec![broken(), scored(0.5, 1.0), scored(1.0, 1.0)]).unwrap();
        assert_eq!((found.passed, found.score), (true, 1.0));
        assert!(any(vec![broken(), scored(0.5, 1.0)]).is_err());
        assert!(
            !any(vec![scored(0.0, 1.0), scored(0.5, 1.0)])
                .unwrap()
                .passed
        );
    }

    #[test]
    fn nothing_is_never_passed() {
        assert!(all_of(vec![], Credit::Full).is_err());
        assert!(any(vec![]).is_err());
    }
}
