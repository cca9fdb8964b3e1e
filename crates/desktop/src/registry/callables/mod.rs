//! The functions that are always there, bound to the parts of a desktop.

mod all;
mod bind;
mod clipboard;
mod clock;
mod keyboard;
mod mouse;
mod repeat_timing;
mod screen;
mod window;

pub(super) use all::put;
pub(super) use clock::now_ns;
pub(super) use screen::picture;
