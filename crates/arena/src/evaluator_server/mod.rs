//! The evaluator as a server: the original's wire in front, one round for each task behind.

mod checks;
mod conduct;
mod desk;
mod hooks;
mod link;
mod machine;
mod round;
mod routes;
mod scoring;
mod sighting;
mod start;

pub use machine::EvaluatorState;
pub use start::{EvaluatorExt, EvaluatorServer};
