//! Keyboard and mouse as a player has them. Light handles: what they do goes through one place, which
//! refuses everything after the stop.

use std::time::Duration;

use agon_core::action::Button;
use agon_desktop::{Key, KeyCombination, Point};

use super::act::Act;
use super::contract::PlayError;
use super::core::Core;

#[derive(Debug, Clone, Copy)]
pub struct PlayKeyboard<'a> {
    core: &'a Core,
}

impl<'a> PlayKeyboard<'a> {
    pub(super) const fn new(core: &'a Core) -> Self {
        Self { core }
    }

    /// Presses a key, which stays down until it is released or the play ends.
    pub fn press(&self, key: Key) -> Result<(), PlayError> {
        self.core.act(Act::Press(key))
    }

    pub fn release(&self, key: Key) -> Result<(), PlayError> {
        self.core.act(Act::Release(key))
    }

    /// Holds a key for so much of the world's time, and comes back then.
    pub fn tap(&self, key: Key, hold: Duration) -> Result<(), PlayError> {
        self.press(key)?;
        self.core.sleep(hold)?;
        self.release(key)
    }

    /// All keys down in their order, and up in reverse, at once.
    pub fn combination(&self, keys: &KeyCombination) -> Result<(), PlayError> {
        self.core.act(Act::Combination(keys.clone()))
    }

    pub fn type_text(&self, text: &str) -> Result<(), PlayError> {
        self.core.act(Act::Type(text.to_owned()))
    }

    /// Keys and buttons of the mouse.
    pub fn release_all(&self) -> Result<(), PlayError> {
        self.core.act(Act::ReleaseAll)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct PlayMouse<'a> {
    core: &'a Core,
}

impl<'a> PlayMouse<'a> {
    pub(super) const fn new(core: &'a Core) -> Self {
        Self { core }
    }

    pub fn position(&self) -> Result<Point, PlayError> {
        self.core.check()?;
        self.core.judge(self.core.desktop.mouse().position())
    }

    pub fn move_to(&self, x: i32, y: i32) -> Result<(), PlayError> {
        self.core.act(Act::MoveTo(Point { x, y }))
    }

    pub fn move_by(&self, dx: i32, dy: i32) -> Result<(), PlayError> {
        self.core.act(Act::MoveBy(dx, dy))
    }

    pub fn click(&self, button: Button, count: u8) -> Result<(), PlayError> {
        self.core.act(Act::Click(button, count))
    }

    pub fn click_at(&self, x: i32, y: i32, button: Button, count: u8) -> Result<(), PlayError> {
        self.core.act(Act::ClickAt(Point { x, y }, button, count))
    }

    /// Stays down until it is released or the play ends.
    pub fn press(&self, button: Button) -> Result<(), PlayError> {
        self.core.act(Act::ButtonDown(button))
    }

    pub fn release(&self, button: Button) -> Result<(), PlayError> {
        self.core.act(Act::ButtonUp(button))
    }

    /// Through all points, with the button down from the first to the last.
    pub fn drag(&self, path: &[Point], button: Button, time: Duration) -> Result<(), PlayError> {
        self.core.act(Act::Drag(path.to_vec(), button, time))
    }

    /// Notches down and to the right; up and left where they are negative.
    pub fn scroll(&self, dx: i32, dy: i32) -> Result<(), PlayError> {
        self.core.act(Act::Scroll(dx, dy))
    }

    pub fn scroll_at(&self, x: i32, y: i32, dx: i32, dy: i32) -> Result<(), PlayError> {
        self.core.act(Act::ScrollAt(Point { x, y }, dx, dy))
    }
}
