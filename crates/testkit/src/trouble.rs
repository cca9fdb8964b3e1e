//! What can go wrong with a browser, in words.

use std::fmt;

/// Says what went wrong, in words.
#[derive(Debug)]
pub struct Trouble(pub(crate) String);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

pub(crate) fn trouble(error: impl fmt::Display) -> Trouble {
    Trouble(error.to_string())
}
