//! Real desktops: one binary, one module per part.

mod desktop {
    mod clipboard;
    mod keyboard;
    mod lifecycle;
    mod listen;
    mod mouse;
    mod probe;
    mod screen;
    mod registry;
    mod windows;
}
