//! How fast a key that is held down repeats. The X server does the repeating, as for a real keyboard;
//! its times are ours while somebody holds a key, and as they were afterwards.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use x11rb::protocol::xkb::{AXOption, BoolCtrl, ConnectionExt as _, Control, VMod};
use x11rb::protocol::xproto::ModMask;

use super::board::KEYBOARD;
use crate::error::DesktopError;
use crate::x11::XConnection;

/// Times in milliseconds until the first repetition, and between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    delay: u16,
    interval: u16,
}

impl Times {
    pub(super) fn new(delay: Duration, interval: Duration) -> Result<Self, DesktopError> {
        let milliseconds = |time: Duration| {
            u16::try_from(time.as_millis())
                .map(|time| time.max(1))
                .map_err(|_| {
                    DesktopError::Invalid(format!(
                        "{} s is too long for the repetition of a key: at most 65 s",
                        time.as_secs_f64()
                    ))
                })
        };
        Ok(Self {
            delay: milliseconds(delay)?,
            interval: milliseconds(interval)?,
        })
    }
}

/// Who holds keys now, and what the times were before.
#[derive(Debug, Default)]
struct Users {
    count: usize,
    before: Option<Times>,
}

#[derive(Debug, Default)]
pub(super) struct Repeat {
    users: Mutex<Users>,
}

/// The times are set as long as this lives.
#[derive(Debug)]
pub(super) struct Repeating<'a> {
    repeat: &'a Repeat,
    x: &'a XConnection,
}

impl Repeat {
    fn lock(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who comes last sets the times for all; who goes last restores them.
    pub(super) fn set<'a>(
        &'a self,
        x: &'a XConnection,
        times: Times,
    ) -> Result<Repeating<'a>, DesktopError> {
        let mut users = self.lock();
        if users.count == 0 {
            let controls = x.x().xkb_get_controls(KEYBOARD)?.reply()?;
            users.before = Some(Times {
                delay: controls.repeat_delay,
                interval: controls.repeat_interval,
            });
        }
        send(x, times)?;
        users.count += 1;
        Ok(Repeating { repeat: self, x })
    }
}

impl Drop for Repeating<'_> {
    fn drop(&mut self) {
        let mut users = self.repeat.lock();
        users.count = users.count.saturating_sub(1);
        if users.count == 0
            && let Some(before) = users.before.take()
        {
            // A server that is gone has no times.
            let _ = send(self.x, before).and_then(|()| self.x.flush());
        }
    }
}

fn send(x: &XConnection, times: Times) -> Result<(), DesktopError> {
    let mods = ModMask::from(0_u16);
    let (vmods, options, switches) = (
        VMod::from(0_u16),
        AXOption::from(0_u16),
        BoolCtrl::from(0_u32),
    );
    x.x().xkb_set_controls(
        KEYBOARD,
        mods,
        mods,
        mods,
        mods,
        vmods,
        vmods,
        vmods,
        vmods,
        0,
        0,
        options,
        switches,
        switches,
        Control::from(u32::from(BoolCtrl::REPEAT_KEYS)),
        times.delay,
        times.interval,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        switches,
        switches,
        options,
        options,
        &[0; 32],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_bounded() {
        let times = |delay, interval| {
            Times::new(
                Duration::from_millis(delay),
                Duration::from_millis(interval),
            )
        };
        assert_eq!(
            times(0, 33).unwrap(),
            Times {
                delay: 1,
                interval: 33
            }
        );
        times(65_535, 1).unwrap();
        assert!(times(65_536, 1).unwrap_err().is_callers());
        assert!(times(1, u64::MAX).unwrap_err().is_callers());
    }
}
