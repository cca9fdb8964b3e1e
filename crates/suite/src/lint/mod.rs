//! What looks wrong with a suite that loads. Static: nothing is played here.

mod answers;
mod checks;
mod finding;
mod realtime;
mod secrets;
mod task;

pub use finding::{Finding, Severity, lint};
