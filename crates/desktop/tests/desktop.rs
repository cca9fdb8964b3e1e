//! Real desktops: one binary, one module per part.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod desktop {
    mod clipboard;
    mod content;
    mod keyboard;
    mod lifecycle;
    mod listen;
    mod mouse;
    mod probe;
    mod registry;
    mod screen;
    mod switching;
    mod typing;
    mod windows;
}
