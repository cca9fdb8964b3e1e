//! What a private desktop is to be like.

use std::time::Duration;

use crate::geometry::Size;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopConfig {
    pub size: Size,
    /// OpenGL by software. Costs about 50 MB and 20 ms per desktop.
    pub gl: bool,
    /// Deadline for being ready.
    pub start: Duration,
}

impl DesktopConfig {
    pub const DEFAULT_SIZE: Size = Size::new(1280, 800);
}

impl Default for DesktopConfig {
    fn default() -> Self {
        Self {
            size: Self::DEFAULT_SIZE,
            gl: false,
            start: Duration::from_secs(30),
        }
    }
}
