//! Puts all of them on their shelf.

use super::super::callable::Callable;
use super::super::shelf::Registry;
use super::{clipboard, clock, keyboard, mouse, screen, window};

pub(in crate::registry) fn put(registry: &Registry<Callable>) {
    clipboard::put(registry);
    clock::put(registry);
    keyboard::put(registry);
    mouse::put(registry);
    screen::put(registry);
    window::put(registry);
}
