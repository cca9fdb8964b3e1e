//! The window that is played, found by its title whenever it is asked for: games come and go.

use std::sync::Arc;

use agon_desktop::screen::Frame;
use agon_desktop::{Rect, WindowInfo};

use super::contract::PlayError;
use super::core::Core;

#[derive(Debug, Clone, Copy)]
pub struct PlayWindow<'a> {
    core: &'a Core,
    title: &'a str,
}

impl<'a> PlayWindow<'a> {
    pub(super) const fn new(core: &'a Core, title: &'a str) -> Self {
        Self { core, title }
    }

    /// What the task says of its title.
    pub const fn title(&self) -> &'a str {
        self.title
    }

    pub fn info(&self) -> Result<WindowInfo, PlayError> {
        self.core.check()?;
        self.core
            .judge(self.core.desktop.windows().find(self.title))
    }

    /// What the game draws on, in pixels of the screen.
    pub fn rect(&self) -> Result<Rect, PlayError> {
        Ok(self.info()?.rect)
    }

    pub fn is_active(&self) -> Result<bool, PlayError> {
        self.core.check()?;
        self.core
            .judge(self.core.desktop.windows().is_active(self.title))
    }

    /// Brings it to the front with the keyboard; next to nothing when it is there already.
    pub fn make_active(&self) -> Result<(), PlayError> {
        if self.is_active()? {
            return Ok(());
        }
        let made = self.core.desktop.windows().make_active(self.title);
        self.core.judge(made).map(drop)
    }

    /// The part of the screen where it is, as it is now.
    pub fn frame(&self) -> Result<Arc<Frame>, PlayError> {
        let id = self.info()?.id;
        let frame = self
            .core
            .judge(self.core.desktop.screen().capture_window(id))?;
        self.core.tally().sees(frame.at());
        Ok(Arc::new(frame))
    }
}
