//! The listeners that are always there.

mod all;
mod clock;
mod input;
mod raw_mouse;
mod screen;

pub(super) use all::put;
pub(super) use screen::{PARAMETERS, ScreenConfig};
