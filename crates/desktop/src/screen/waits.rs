//! Waits for a screen to change, or to come to rest.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::change::Changes;
use super::frame::Frame;
use super::handle::Screen;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::x11::XConnection;

/// Between two questions whether more was drawn: without it a program that draws all the time would
/// keep us and the server as busy as itself.
const BREATH: Duration = Duration::from_millis(1);

/// Between two captures that are compared, for the same reason.
const LOOK: Duration = Duration::from_millis(8);

/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How long to wait for the effect of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settle {
    /// For the first change.
    pub first: Duration,
    /// So long nothing is drawn: then the effect is over.
    pub quiet: Duration,
    /// In all.
    pub most: Duration,
}

/// What came of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// Something was drawn. It may look the same as before.
    pub changed: bool,
    /// Nothing was drawn any more when the wait ended.
    pub at_rest: bool,
}

/// Notices everything drawn since it was made.
#[derive(Debug)]
pub struct Watch {
    changes: Changes,
}

impl Watch {
    pub(super) fn new(address: &DisplayAddress) -> Result<Self, DesktopError> {
        let changes = Changes::begin(Arc::new(XConnection::open(address)?))?;
        Ok(Self { changes })
    }

    /// Forgets what was drawn until now: to be called before something is done whose effect counts.
    pub fn restart(&self) -> Result<(), DesktopError> {
        self.changes.sync()?;
        self.changes.take().map(drop)
    }

    /// Waits for what was done since the watch began, or since this was called last, to take effect.
    /// Goes by what is drawn and not by pixels, so it costs next to nothing; a blinking cursor is a
    /// change, and no hindrance as long as `quiet` is shorter than it stays on.
    pub fn settle(&self, settle: &Settle) -> Result<Rest, DesktopError> {
        let end = from_now(settle.most);
        if !self.changes.wait(end.min(from_now(settle.first)))? {
            return Ok(Rest {
                changed: false,
                at_rest: true,
            });
        }
        loop {
            let quiet = from_now(settle.quiet);
            self.changes.pause(end.min(quiet).min(from_now(BREATH)))?;
            let drawn = self.changes.wait(end.min(quiet))?;
            if !drawn || Instant::now() >= end {
                return Ok(Rest {
                    changed: true,
                    at_rest: !drawn && quiet <= end,
                });
            }
        }
    }
}

/// `before` is the screen as it is now unless given.
pub(super) fn changed_from(
    screen: Screen<'_>,
    before: Option<&Frame>,
    within: Duration,
) -> Result<bool, DesktopError> {
    let end = from_now(within);
    let changes = screen.watch()?.changes;
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
    let changes = screen.watch()?.changes;
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
