//! Waits until an action has taken effect. A program has done what it was asked to when it has neither drawn nor worked
//! for a while: drawing alone does not tell, because programs map windows long before they paint them and compute between
//! two things that they draw. Knows nothing of which action it was.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_sandbox::Activity;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use super::change::Changes;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::windows;
use crate::x11::XConnection;

/// Between two questions whether more was drawn: without it a program that draws all the time would
/// keep us and the server as busy as itself.
const BREATH: Duration = Duration::from_millis(1);

/// Between two looks at what programs do.
const LOOK: Duration = Duration::from_millis(3);

/// A program that draws as soon as it knows what has done so when it has rested this long.
const PLAIN_QUIET: Duration = Duration::from_millis(12);

/// Tool kits with a frame clock compute, sleep up to a frame of 16.7 ms, and draw: two frames, and some time to be late.
const FRAME_QUIET: Duration = Duration::from_millis(42);

/// A program that runs for less than this share of the time rests: cursors blink, clocks tick.
const IDLE_SHARE: f64 = 0.06;

/// No wait is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How long to wait for the effect of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settle {
    /// For the first change, where nothing is known of programs.
    pub first: Duration,
    /// So long nothing is drawn, where nothing is known of programs: then the effect is over.
    pub quiet: Duration,
    /// A program that works for so long without drawing is busy with something else.
    pub busy: Duration,
    /// A timer that goes off within so long of the last thing drawn is waited for.
    pub timers: Duration,
    /// In all, at least.
    pub least: Duration,
    /// In all, at most.
    pub most: Duration,
}

impl Settle {
    /// Where nothing is known of programs.
    pub const fn by_drawing(first: Duration, quiet: Duration, most: Duration) -> Self {
        Self {
            first,
            quiet,
            busy: most,
            timers: Duration::ZERO,
            least: Duration::ZERO,
            most,
        }
    }
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
    x: Arc<XConnection>,
    changes: Changes,
}

impl Watch {
    pub(super) fn new(address: &DisplayAddress) -> Result<Self, DesktopError> {
        let x = Arc::new(XConnection::open(address)?);
        let changes = Changes::begin(Arc::clone(&x))?;
        Ok(Self { x, changes })
    }

    pub(super) fn changes(self) -> Changes {
        self.changes
    }

    /// Forgets what was drawn until now: to be called before something is done whose effect counts.
    pub fn restart(&self) -> Result<(), DesktopError> {
        self.changes.sync()?;
        self.changes.take().map(drop)
    }

    /// Waits for what was done since the watch began, or since [`Watch::restart`] was called last, to take effect.
    /// `programs` were looked at before it was done. Where nothing is known of them, what is drawn has to do: a
    /// blinking cursor is a change, and no hindrance as long as `quiet` is shorter than it stays on.
    pub fn settle(
        &self,
        settle: &Settle,
        programs: Option<&mut Activity>,
    ) -> Result<Rest, DesktopError> {
        let began = Instant::now();
        let rest = match programs {
            Some(programs) => self.settle_by_programs(programs, settle)?,
            None => self.settle_by_drawing(settle)?,
        };
        self.changes.pause(began + settle.least.min(settle.most))?;
        Ok(rest)
    }

    fn settle_by_programs(
        &self,
        programs: &mut Activity,
        settle: &Settle,
    ) -> Result<Rest, DesktopError> {
        let began = Instant::now();
        let end = began + settle.most.min(LONGEST);
        let quiet = match self.has_frame_clock()? {
            true => FRAME_QUIET,
            false => PLAIN_QUIET,
        };
        let mut drawn = None;
        let mut worked = began;
        let mut looked = began;
        loop {
            self.changes.pause(end.min(looked + BREATH))?;
            if self.changes.wait(end.min(looked + LOOK))? {
                drawn = Some(Instant::now());
            }
            let now = Instant::now();
            if programs.look() > (now - looked).mul_f64(IDLE_SHARE) {
                worked = now;
            }
            looked = now;
            let rest = |at_rest| {
                Ok(Rest {
                    changed: drawn.is_some(),
                    at_rest,
                })
            };
            let last = drawn.unwrap_or(began);
            if now >= last + settle.busy {
                return rest(true);
            }
            if now >= last.max(worked) + quiet {
                let waiting = programs.waiting();
                let patience = last + settle.timers;
                let timer = waiting.timer.filter(|timer| timer.max(&now) < &patience);
                match (waiting.for_processor, timer) {
                    (true, _) => worked = now,
                    (false, Some(_)) => {}
                    (false, None) => return rest(true),
                }
            }
            if now >= end {
                return rest(false);
            }
        }
    }

    /// Whether the program that is used now draws by a frame clock: those tool kits tell the window manager when they
    /// have drawn.
    fn has_frame_clock(&self) -> Result<bool, DesktopError> {
        let Some(window) = windows::active(&self.x)? else {
            return Ok(false);
        };
        let counter = self.x.atoms()._NET_WM_SYNC_REQUEST_COUNTER;
        let property = self
            .x
            .x()
            .get_property(false, window, counter, AtomEnum::CARDINAL, 0, 1)?;
        // A window that is gone has none.
        Ok(property.reply().is_ok_and(|reply| reply.value_len > 0))
    }

    fn settle_by_drawing(&self, settle: &Settle) -> Result<Rest, DesktopError> {
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

fn from_now(wait: Duration) -> Instant {
    Instant::now() + wait.min(LONGEST)
}
