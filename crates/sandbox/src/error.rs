//! What can go wrong with a sandbox, and whose doing it was.

use std::io;

use agon_core::FaultClass;

/// What took too long when a program could not be ended, which is its own doing.
pub const ENDING: &str = "ending a program";

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A program, engine or image that is not there; the message says how to get it.
    #[error("{0}")]
    Missing(String),
    #[error("the sandbox did not start: {0}")]
    Start(String),
    #[error("{what} took longer than {seconds} s")]
    Timeout { what: &'static str, seconds: f64 },
    /// Out of memory inside, by the limits that we set: the agent's doing.
    #[error("the sandbox ran out of memory and was ended")]
    OutOfMemory,
    /// It has ended, and nothing outside ended it: a program inside did.
    #[error("the sandbox has ended: {0}")]
    Ended(String),
    /// It is gone and we don't know why.
    #[error("the sandbox is gone: {0}")]
    Gone(String),
    /// The caller's request makes no sense inside (no such file, no such program, not a text, full
    /// disk): an answer for the agent, not a fault.
    #[error("{0}")]
    Denied(String),
    #[error("{context}: {source}")]
    Io { context: String, source: io::Error },
}

impl SandboxError {
    pub fn io(context: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let context = context.into();
        move |source| Self::Io { context, source }
    }

    /// Whether programs inside have brought it down: by using up its memory, by ending it, or because they can't be
    /// ended.
    pub fn of_agent(&self) -> bool {
        matches!(
            self,
            Self::OutOfMemory | Self::Ended(_) | Self::Timeout { what: ENDING, .. }
        )
    }

    pub fn fault_class(&self) -> FaultClass {
        match self {
            Self::Missing(_) | Self::Start(_) => FaultClass::Start,
            Self::Timeout { .. } => FaultClass::Timeout,
            _ => FaultClass::Environment,
        }
    }
}
