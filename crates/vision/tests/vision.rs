//! Pictures of real text, read by the real models.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "vision/drawing.rs"]
mod drawing;
#[path = "vision/games.rs"]
mod games;
#[path = "vision/terminal.rs"]
mod terminal;
