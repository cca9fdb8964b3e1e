//! What a caller sees of the clipboard, and the offer that a desktop keeps up after `set`.

use std::sync::{Mutex, PoisonError};

use super::fetch::fetch;
use super::owner::Owner;
use crate::desktop::Desktop;
use crate::error::DesktopError;

/// Longest text that is read or offered, in bytes.
pub(super) const MOST_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Clipboard<'a> {
    desktop: &'a Desktop,
}

impl<'a> Clipboard<'a> {
    pub(crate) fn new(desktop: &'a Desktop) -> Self {
        Self { desktop }
    }

    /// The text that was copied last; empty when there is none.
    pub fn get(&self) -> Result<String, DesktopError> {
        fetch(self.desktop.line()?)
    }

    /// Offers a text to whoever pastes, until somebody else copies something or the desktop goes
    /// away.
    pub fn set(&self, text: &str) -> Result<(), DesktopError> {
        if text.len() > MOST_BYTES {
            return Err(too_long());
        }
        let owner = Owner::start(self.desktop.line()?, text)?;
        self.desktop.offer().replace(owner);
        Ok(())
    }
}

pub(super) fn too_long() -> DesktopError {
    DesktopError::Invalid(format!(
        "the text is too long for the clipboard: at most {} MB",
        MOST_BYTES >> 20
    ))
}

/// The place of a desktop for what it offers.
#[derive(Debug, Default)]
pub(crate) struct Offer(Mutex<Option<Owner>>);

impl Offer {
    fn replace(&self, owner: Owner) {
        let before = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(owner);
        // Outside of the lock: it is waited for.
        drop(before);
    }
}
