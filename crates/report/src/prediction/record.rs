//! Where predictions are found in what a run has recorded.

use agon_core::Verdict;
use agon_core::prediction::ScoredPrediction;
use agon_core::verdict::CheckResult;
use agon_store::Manifest;

/// The key of a manifest's selection by which such a run is known.
const KIND: &str = "predict";

pub(crate) fn is_prediction_run(manifest: &Manifest) -> bool {
    manifest.selection.contains_key(KIND)
}

/// The first prediction in a verdict, be it in a part of another check.
pub(crate) fn of_verdict(verdict: Verdict) -> Option<ScoredPrediction> {
    fn find(checks: Vec<CheckResult>) -> Option<Box<ScoredPrediction>> {
        checks
            .into_iter()
            .find_map(|check| check.prediction.or_else(|| find(check.parts)))
    }
    find(verdict.checks).map(|prediction| *prediction)
}
