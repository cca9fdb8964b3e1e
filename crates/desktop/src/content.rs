//! The first picture of programs: a window is there before anything is drawn on it. Knows nothing of
//! which programs these are.

use std::time::{Duration, Instant};

use crate::desktop::Desktop;
use crate::error::DesktopError;

/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Desktop {
    /// Waits, at most `within`, until the screen has looked the same for `quiet` and every window that
    /// is shown has something on it, more than one colour; says whether it came to that.
    pub fn wait_for_content(
        &self,
        quiet: Duration,
        within: Duration,
    ) -> Result<bool, DesktopError> {
        let end = Instant::now() + within.min(LONGEST);
        let left = || end.saturating_duration_since(Instant::now());
        loop {
            if !self.screen().stable(quiet, left())? {
                return Ok(false);
            }
            let windows = self.windows().list()?;
            let frame = self.screen().capture()?;
            let mut shown = windows.iter().filter(|window| !window.hidden);
            if !shown.any(|window| frame.is_plain(window.rect)) {
                return Ok(true);
            }
            // From this frame on: what is drawn while it is looked at counts.
            if !self.screen().changed_from(&frame, left())? {
                return Ok(false);
            }
        }
    }
}
