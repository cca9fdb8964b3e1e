//! One agent at work on one task, for programs that do the rest themselves.

mod error;
mod journal;
mod run;
mod voice;

pub use error::ControllerError;
pub use run::{Conversation, run_controller, trajectory};
