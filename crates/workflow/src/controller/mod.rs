//! One agent at work on one task, for programs that do the rest themselves.

mod allotment;
mod error;
mod journal;
mod log;
mod run;
mod session;
#[cfg(test)]
mod tests;
mod voice;

pub(crate) use allotment::Allotment;
pub use error::ControllerError;
pub(crate) use run::CONDENSED;
pub use run::{Conversation, run_controller, trajectory};
pub use session::Session;
