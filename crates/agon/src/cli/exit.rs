//! Exit statuses: public, documented in `docs/exit-codes.md`, never changed.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; for `run`: every trial was graded.
    Done = 0,
    /// Faults remain, or trials were left out.
    Faults = 1,
    /// Bad usage, suite or manifest.
    Bad = 2,
    /// The score is under `--fail-under`.
    Under = 3,
    /// `solve`: the agent refused the task.
    Rejected = 4,
    /// `solve`: a limit ended the agent's turn.
    Limit = 5,
    /// `solve`: the agent repeated itself without getting on.
    Stuck = 6,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
