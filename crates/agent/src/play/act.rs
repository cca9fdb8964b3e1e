//! One thing that a hand does. Knows nothing of when.

use std::time::Duration;

use agon_core::action::Button;
use agon_desktop::{Desktop, DesktopError, Key, KeyCombination, Point};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Press(Key),
    Release(Key),
    Combination(KeyCombination),
    Type(String),
    ReleaseAll,
    MoveTo(Point),
    MoveBy(i32, i32),
    Click(Button, u8),
    ClickAt(Point, Button, u8),
    ButtonDown(Button),
    ButtonUp(Button),
    Drag(Vec<Point>, Button, Duration),
    Scroll(i32, i32),
    ScrollAt(Point, i32, i32),
}

impl Act {
    pub(super) fn carry_out(&self, desktop: &Desktop) -> Result<(), DesktopError> {
        let (keyboard, mouse) = (desktop.keyboard(), desktop.mouse());
        match self {
            Self::Press(key) => keyboard.press(*key),
            Self::Release(key) => keyboard.release(*key),
            Self::Combination(keys) => keyboard.combination(keys),
            Self::Type(text) => keyboard.type_text(text),
            Self::ReleaseAll => keyboard.release_all(),
            Self::MoveTo(Point { x, y }) => mouse.move_to(*x, *y),
            Self::MoveBy(dx, dy) => mouse.move_by(*dx, *dy),
            Self::Click(button, count) => mouse.click(*button, *count),
            Self::ClickAt(Point { x, y }, button, count) => mouse.click_at(*x, *y, *button, *count),
            Self::ButtonDown(button) => mouse.press(*button),
            Self::ButtonUp(button) => mouse.release(*button),
            Self::Drag(path, button, duration) => mouse.drag(path, *button, *duration),
            Self::Scroll(dx, dy) => mouse.scroll(*dx, *dy),
            Self::ScrollAt(Point { x, y }, dx, dy) => mouse.scroll_at(*x, *y, *dx, *dy),
        }
    }

    /// Whether it presses this key.
    pub(super) fn presses(&self, wanted: Key) -> bool {
        match self {
            Self::Press(key) => *key == wanted,
            Self::Combination(keys) => keys.keys().contains(&wanted),
            _ => false,
        }
    }
}
