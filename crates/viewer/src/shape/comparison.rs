//! Two or more runs, paired by task: as reports have it. Runs are named by their ids here.

pub use agon_report::{ComparedCell, ComparedRun, ComparedTask, Comparison, PairedRun as Paired};
