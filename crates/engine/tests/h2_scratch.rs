//! Scratch.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#[path="h2w/ground.rs"]
mod ground;
#[path="h2w/cells.rs"]
mod cells;
#[path="h2w/browser.rs"]
mod browser;
