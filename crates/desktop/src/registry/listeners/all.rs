//! Puts all of them on their shelf.

use super::super::listener::ListenerKind;
use super::super::shelf::Registry;
use super::{clock, input, screen};

pub(in crate::registry) fn put(registry: &Registry<ListenerKind>) {
    clock::put(registry);
    input::put(registry);
    screen::put(registry);
}
