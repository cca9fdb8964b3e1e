//! The screen as its users reach it.

use std::time::Duration;

use super::capture::{CaptureOptions, Capturer};
use super::frame::Frame;
use super::rest::Watch;
use super::stream::{FrameStream, StreamConfig};
use super::waits;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::geometry::Size;

#[derive(Debug, Clone, Copy)]
pub struct Screen<'d> {
    capturer: &'d Capturer,
    address: &'d DisplayAddress,
}

impl<'d> Screen<'d> {
    pub(crate) const fn new(capturer: &'d Capturer, address: &'d DisplayAddress) -> Self {
        Self { capturer, address }
    }

    pub fn size(&self) -> Size {
        self.capturer.x().size()
    }

    /// The whole screen, without the pointer.
    pub fn capture(&self) -> Result<Frame, DesktopError> {
        self.capture_with(&CaptureOptions::default())
    }

    pub fn capture_with(&self, options: &CaptureOptions) -> Result<Frame, DesktopError> {
        self.capturer.capture(options)
    }

    /// The part of the screen where a window is, without its frame and with whatever covers it.
    pub fn capture_window(&self, id: u32) -> Result<Frame, DesktopError> {
        let region = Some(self.capturer.window(id)?);
        self.capture_with(&CaptureOptions {
            region,
            ..CaptureOptions::default()
        })
    }

    /// Begins to watch for changes; to be called before what causes them.
    pub fn watch(&self) -> Result<Watch, DesktopError> {
        Watch::new(self.address)
    }

    /// Waits, at most `within`, until the screen has looked the same for `quiet`; says whether it
    /// did. A screen that only goes back and forth between two pictures, as with a blinking text
    /// cursor, looks the same; one with a third picture, such as an animation, does not.
    pub fn stable(&self, quiet: Duration, within: Duration) -> Result<bool, DesktopError> {
        waits::stable(*self, quiet, within)
    }

    /// Waits, at most `within`, until the screen looks different from now; says whether it does.
    pub fn changed(&self, within: Duration) -> Result<bool, DesktopError> {
        waits::changed_from(*self, None, within)
    }

    /// Waits, at most `within`, until the screen looks different from `before`, a frame of the whole
    /// screen without the pointer; says whether it does.
    pub fn changed_from(&self, before: &Frame, within: Duration) -> Result<bool, DesktopError> {
        waits::changed_from(*self, Some(before), within)
    }

    /// Frames at a wanted rate, as long as the screen changes.
    pub fn stream(&self, config: StreamConfig) -> Result<FrameStream, DesktopError> {
        FrameStream::start(self.address, config)
    }
}
