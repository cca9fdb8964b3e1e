//! A benchmark as code: instances are worked on side by side, each in a runtime of its own.

mod benchmark;
mod error;
mod metrics;
mod run;
#[cfg(test)]
mod tests;

pub use benchmark::{Benchmark, process_instance, run_benchmark};
pub use error::EvalError;
pub use metrics::get_metrics;
pub use run::{Evaluated, RunOptions, run_evaluation};
