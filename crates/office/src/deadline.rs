//! When reading has to be over. A small file can be made to be slow in ways that nobody has thought of, and
//! nothing but the reader itself can end its thread.

use std::time::Instant;

use crate::error::OfficeError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) const fn new(at: Instant) -> Self {
        Self(at)
    }

    /// One that no test reaches.
    #[cfg(test)]
    pub(crate) fn later() -> Self {
        Self(Instant::now() + std::time::Duration::from_secs(600))
    }

    /// For loops: an error once the time is over.
    pub(crate) fn check(self) -> Result<(), OfficeError> {
        match Instant::now() < self.0 {
            true => Ok(()),
            false => Err(OfficeError::TooSlow),
        }
    }
}
