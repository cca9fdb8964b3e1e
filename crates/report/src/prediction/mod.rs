//! What a run of predictions adds up to beside its scores: what could be read, what was exact, and how far
//! off the points were. Runs of other kinds pay nothing for it.

mod distance;
mod summary;
mod tally;

pub use distance::{DistanceBin, Distances};
pub use summary::{KindScore, PredictionGroup, Predictions, Rate, Unread};
pub(crate) use tally::PredictionTally;

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
