//! What looks wrong with a suite that loads. Static: nothing is played here.

mod answers;
mod checks;
mod finding;
mod prose;
mod realtime;
mod secrets;
mod task;
mod world;
mod written;

pub use finding::{Finding, Severity, lint};
pub(crate) use written::as_written;
