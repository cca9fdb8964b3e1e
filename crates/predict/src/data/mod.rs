//! Items from a user's own file: one JSON object per line. Says for every line that can't be used where
//! and why; reads nothing but the file and the pictures it names.

mod line;
pub(crate) mod pictures;
mod read;

pub use line::BoxForm;
pub use read::{DataError, DataOptions, Metric, read};
