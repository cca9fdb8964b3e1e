//! Two or more runs, paired by task: the first one is what the others are compared with.

mod caveats;
mod compared;
mod contender;
mod shape;
mod sheets;
mod words;

pub use contender::{Contender, PlayedTrial};
pub use shape::{ComparedCell, ComparedRun, ComparedTask, Comparison, PairedRun};
pub(crate) use sheets::{paired, paired_sheets, sign};
pub use words::sign as run_sign;
