//! The engine played as a whole, with agents made for it.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "engine/fixture.rs"]
mod fixture;

#[path = "engine/faults.rs"]
mod faults;
#[path = "engine/resuming.rs"]
mod resuming;
