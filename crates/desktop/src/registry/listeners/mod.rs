//! The listeners that are always there.

mod clock;
mod input;
mod raw_mouse;
mod screen;

use super::listener::ListenerKind;
use super::shelf::Registry;
pub(super) use screen::{PARAMETERS, ScreenConfig};

pub(super) fn put(registry: &Registry<ListenerKind>) {
    clock::put(registry);
    input::put(registry);
    screen::put(registry);
}
