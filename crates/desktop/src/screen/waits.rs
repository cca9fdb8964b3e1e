//! Waits for a screen to change, or to look the same.

use std::time::{Duration, Instant};

use super::change::Changes;
use super::frame::Frame;
use super::handle::Screen;
use crate::error::DesktopError;

/// Between two captures that are compared: a program that draws all the time must not keep us as busy as itself.
const LOOK: Duration = Duration::from_millis(8);

/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// `before` is the screen as it is now unless given.
pub(super) fn changed_from(
    screen: Screen<'_>,
    before: Option<&Frame>,
    within: Duration,
) -> Result<bool, DesktopError> {
    let end = from_now(within);
    let changes = screen.watch()?.changes();
    let now;
    let before = match before {
        Some(before) => {
            if screen.capture()? != *before {
                return Ok(true);
            }
            before
        }
        None => {
            now = screen.capture()?;
            &now
        }
    };
    while changes.wait(end)? {
        if fresh(screen, &changes)? != *before {
            return Ok(true);
        }
        if Instant::now() >= end {
            break;
        }
        changes.pause(end.min(from_now(LOOK)))?;
    }
    Ok(false)
}

pub(super) fn stable(
    screen: Screen<'_>,
    quiet: Duration,
    within: Duration,
) -> Result<bool, DesktopError> {
    let end = from_now(within);
    let quiet = quiet.min(LONGEST);
    let changes = screen.watch()?.changes();
    let mut latest = screen.capture()?;
    let mut other: Option<Frame> = None;
    let mut since = Instant::now();
    loop {
        let rest = since + quiet;
        if rest > end {
            return Ok(false);
        }
        if !changes.wait(rest)? {
            return Ok(true);
        }
        let looked = Instant::now();
        let frame = fresh(screen, &changes)?;
        if frame != latest {
            // Back to the other of the two: still the same blinking.
            let back = other.as_ref() == Some(&frame);
            other = Some(std::mem::replace(&mut latest, frame));
            if !back {
                since = looked;
            }
        }
        if looked >= since + quiet {
            return Ok(true);
        }
        changes.pause(looked + LOOK)?;
    }
}

fn from_now(wait: Duration) -> Instant {
    Instant::now() + wait.min(LONGEST)
}

/// The screen with all that [`Changes`] has told of: the server has handled what it was asked to
/// forget before it captures.
fn fresh(screen: Screen<'_>, changes: &Changes) -> Result<Frame, DesktopError> {
    changes.sync()?;
    screen.capture()
}
