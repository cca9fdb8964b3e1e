//! The functions that are always there, bound to the parts of a desktop.

mod bind;
mod clipboard;
mod clock;
mod keyboard;
mod mouse;
mod repeat_timing;
mod screen;
mod window;

pub(super) use clock::now_ns;
pub(super) use screen::picture;

use super::callable::Callable;
use super::shelf::Registry;

pub(super) fn put(registry: &Registry<Callable>) {
    clipboard::put(registry);
    clock::put(registry);
    keyboard::put(registry);
    mouse::put(registry);
    screen::put(registry);
    window::put(registry);
}
