//! Releases what an agent held that can't do so itself any more: the X server keeps keys down whose
//! presser is gone.

use agon_core::action::Button;
use agon_desktop::{Desktop, DesktopError, DisplayAddress, Key};

/// What was down before an agent played: it belongs to somebody else.
#[derive(Debug, Default)]
pub(super) struct Before {
    keys: Vec<Key>,
    buttons: Vec<Button>,
}

impl Before {
    pub(super) fn look(desktop: &Desktop) -> Result<Self, DesktopError> {
        Ok(Self {
            keys: desktop.keyboard().state()?.keys,
            buttons: desktop.mouse().state()?.buttons,
        })
    }

    /// Releases all that is down and was not before.
    pub(super) fn restore(&self, address: &DisplayAddress) -> Result<(), DesktopError> {
        let desktop = Desktop::connect(address)?;
        for key in desktop.keyboard().state()?.keys {
            if !self.keys.contains(&key) {
                desktop.keyboard().release(key)?;
            }
        }
        for button in desktop.mouse().state()?.buttons {
            if !self.buttons.contains(&button) {
                desktop.mouse().release(button)?;
            }
        }
        Ok(())
    }
}
