//! The mouse, moved and pressed as if by hand (XTest). Knows nothing of windows: what is under the
//! pointer gets the events.

use std::time::{Duration, Instant};

use agon_core::action::Button;
use rustix::event::{Timespec, poll};
use serde::{Deserialize, Serialize};
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask, MOTION_NOTIFY_EVENT};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::held::Physical;
use super::keyboard::{HOLD, check_hold};
use super::path::steps;
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::geometry::Point;

/// Notches of the wheel in one call.
const MOST_NOTCHES: u32 = 100;

/// Points of one drag, and how long it may take.
const MOST_POINTS: usize = 1000;
const LONGEST_DRAG: Duration = Duration::from_secs(300);

/// The wheel is four buttons.
const UP: Physical = Physical::Button(4);
const DOWN: Physical = Physical::Button(5);
const LEFT: Physical = Physical::Button(6);
const RIGHT: Physical = Physical::Button(7);

/// How a motion is meant.
const ABSOLUTE: u8 = 0;
const RELATIVE: u8 = 1;

#[derive(Debug, Clone, Copy)]
pub struct Mouse<'a> {
    desktop: &'a Desktop,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MouseState {
    pub position: Point,
    /// Those that are down.
    pub buttons: Vec<Button>,
}

impl<'a> Mouse<'a> {
    pub(crate) fn new(desktop: &'a Desktop) -> Self {
        Self { desktop }
    }

    pub fn position(&self) -> Result<Point, DesktopError> {
        Ok(self.state()?.position)
    }

    pub fn state(&self) -> Result<MouseState, DesktopError> {
        let x = self.desktop.x();
        let pointer = x.x().query_pointer(x.root())?.reply()?;
        let down = [
            (Button::Left, KeyButMask::BUTTON1),
            (Button::Middle, KeyButMask::BUTTON2),
            (Button::Right, KeyButMask::BUTTON3),
        ];
        let down = down
            .into_iter()
            .filter(|(_, bit)| pointer.mask.contains(*bit));
        Ok(MouseState {
            position: Point {
                x: pointer.root_x.into(),
                y: pointer.root_y.into(),
            },
            buttons: down.map(|(button, _)| button).collect(),
        })
    }

    pub fn move_to(&self, x: i32, y: i32) -> Result<(), DesktopError> {
        let place = self.place(Point { x, y })?;
        self.motion(ABSOLUTE, place)?;
        self.desktop.x().sync()
    }

    /// Moves as a hand does: by so much, and no further than to the edge of the screen.
    pub fn move_by(&self, dx: i32, dy: i32) -> Result<(), DesktopError> {
        let far = |_| {
            DesktopError::Invalid(format!(
                "({dx}, {dy}) is too far for one move: at most {} pixels",
                i16::MAX
            ))
        };
        let by = (
            i16::try_from(dx).map_err(far)?,
            i16::try_from(dy).map_err(far)?,
        );
        self.motion(RELATIVE, by)?;
        self.desktop.x().sync()
    }

    /// Clicks where the pointer is. Several clicks follow each other at once, so that they count as
    /// a double or triple click.
    pub fn click(&self, button: Button, count: u8) -> Result<(), DesktopError> {
        check_count(count)?;
        self.clicks(physical(button), count.into(), HOLD)
    }

    /// Every press is held for the usual time, [`HOLD`].
    pub fn click_at(&self, x: i32, y: i32, button: Button, count: u8) -> Result<(), DesktopError> {
        self.click_held_at(x, y, button, count, HOLD)
    }

    pub fn click_held_at(
        &self,
        x: i32,
        y: i32,
        button: Button,
        count: u8,
        hold: Duration,
    ) -> Result<(), DesktopError> {
        check_count(count)?;
        check_hold(hold)?;
        let place = self.place(Point { x, y })?;
        self.motion(ABSOLUTE, place)?;
        self.clicks(physical(button), count.into(), hold)
    }

    pub fn press(&self, button: Button) -> Result<(), DesktopError> {
        self.hold(button)?;
        self.desktop.x().sync()
    }

    pub fn release(&self, button: Button) -> Result<(), DesktopError> {
        let x = self.desktop.x();
        self.desktop.seat().held().release(x, physical(button))?;
        x.sync()
    }

    /// Presses at the first point, moves through all others and releases at the last, which is
    /// reached after `duration`.
    pub fn drag(
        &self,
        path: &[Point],
        button: Button,
        duration: Duration,
    ) -> Result<(), DesktopError> {
        let &[first, _, ..] = path else {
            return Err(DesktopError::Invalid(
                "a drag goes from a first point to a last: give two points or more".to_owned(),
            ));
        };
        if path.len() > MOST_POINTS || duration > LONGEST_DRAG {
            return Err(DesktopError::Invalid(format!(
                "a drag has at most {MOST_POINTS} points and takes at most {} s",
                LONGEST_DRAG.as_secs()
            )));
        }
        // All of them before the first move: no drag ends half way for this.
        for &point in path {
            self.place(point)?;
        }
        self.motion(ABSOLUTE, self.place(first)?)?;
        self.hold(button)?;
        let start = Instant::now();
        for step in steps(path, duration) {
            // Sent before the wait, so that programs see every step when it is due.
            self.desktop.x().flush()?;
            pause_until(start + step.after)?;
            self.motion(ABSOLUTE, self.place(step.to)?)?;
        }
        self.desktop.x().flush()?;
        pause_until(start + duration)?;
        self.release(button)
    }

    /// Turns the wheel where the pointer is: `dy` notches down, or up where it is negative; `dx`
    /// to the right, or left.
    pub fn scroll(&self, dx: i32, dy: i32) -> Result<(), DesktopError> {
        check_notches(dx, dy)?;
        self.wheel(dx, dy)
    }

    pub fn scroll_at(&self, x: i32, y: i32, dx: i32, dy: i32) -> Result<(), DesktopError> {
        check_notches(dx, dy)?;
        let place = self.place(Point { x, y })?;
        self.motion(ABSOLUTE, place)?;
        self.wheel(dx, dy)
    }

    fn wheel(&self, dx: i32, dy: i32) -> Result<(), DesktopError> {
        let sideways = if dx < 0 { LEFT } else { RIGHT };
        let upright = if dy < 0 { UP } else { DOWN };
        self.clicks(sideways, dx.unsigned_abs(), Duration::ZERO)?;
        self.clicks(upright, dy.unsigned_abs(), Duration::ZERO)
    }

    fn clicks(&self, what: Physical, count: u32, hold: Duration) -> Result<(), DesktopError> {
        let x = self.desktop.x();
        let seat = self.desktop.seat();
        for _ in 0..count {
            seat.held().press(x, what)?;
            let waited = seat.hold(hold);
            seat.held().release(x, what)?;
            waited?;
        }
        x.sync()
    }

    fn hold(&self, button: Button) -> Result<(), DesktopError> {
        self.desktop
            .seat()
            .held()
            .press(self.desktop.x(), physical(button))
    }

    fn motion(&self, meant: u8, (x, y): (i16, i16)) -> Result<(), DesktopError> {
        let server = self.desktop.x();
        let event = MOTION_NOTIFY_EVENT;
        server
            .x()
            .xtest_fake_input(event, meant, 0, server.root(), x, y, 0)?;
        Ok(())
    }

    /// A point of the screen in X's numbers.
    fn place(&self, Point { x, y }: Point) -> Result<(i16, i16), DesktopError> {
        let size = self.desktop.size();
        let outside = DesktopError::Outside { x, y, size };
        match (i16::try_from(x), i16::try_from(y)) {
            (Ok(left), Ok(top)) if size.contains(x, y) => Ok((left, top)),
            _ => Err(outside),
        }
    }
}

fn physical(button: Button) -> Physical {
    Physical::Button(match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    })
}

fn check_count(count: u8) -> Result<(), DesktopError> {
    match count {
        1..=3 => Ok(()),
        _ => Err(DesktopError::Invalid(format!(
            "{count} clicks make no sense: click from 1 to 3 times"
        ))),
    }
}

fn check_notches(dx: i32, dy: i32) -> Result<(), DesktopError> {
    if dx.unsigned_abs().max(dy.unsigned_abs()) > MOST_NOTCHES {
        return Err(DesktopError::Invalid(format!(
            "({dx}, {dy}) is too much for one scroll: at most {MOST_NOTCHES} notches"
        )));
    }
    Ok(())
}

/// Hands of people take their time, and so does a drag: this is its pace, and waits for nothing.
fn pause_until(due: Instant) -> Result<(), DesktopError> {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let timeout = Timespec::try_from(left)
            .map_err(|error| DesktopError::Invalid(format!("the drag takes too long: {error}")))?;
        match poll(&mut [], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(DesktopError::io("can't wait")(error.into())),
        }
    }
}
