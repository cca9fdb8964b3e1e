//! The result files of a whole run, made from its folder.

mod completions;
mod export;
mod log;
mod rows;

pub use export::{BUDGET, export, instances_of, metadata_of};
pub use rows::{Instances, RunRows};
