//! What a run of predictions adds up to beside its scores: what could be read, what was exact, and how far
//! off the points were. Runs of other kinds pay nothing for it.

mod distance;
mod record;
mod summary;
mod tally;

pub use distance::{DistanceBin, Distances};
pub(crate) use record::{is_prediction_run, of_verdict};
pub use summary::{KindScore, PredictionGroup, Predictions, Rate, Unread};
pub(crate) use tally::PredictionTally;
