//! Why a command could not do its work, and the exit status that says so.

use std::fmt;
use std::process::ExitCode;

#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// Something was done, and it failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            status: 1,
        }
    }

    /// Nothing was done: the caller must change something first.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            status: 2,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Says what was tried when something fails.
pub(crate) trait Trying<T> {
    fn trying(self, what: impl fmt::Display) -> Result<T, Failure>;
}

impl<T, E: fmt::Display> Trying<T> for Result<T, E> {
    fn trying(self, what: impl fmt::Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(format!("cannot {what}: {error}")))
    }
}
