//! The run folder from outside: what other versions wrote is read, what is written is what was asked
//! for, and whatever a killed process left is gone on with.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "store/fixture.rs"]
mod fixture;

#[path = "store/audit.rs"]
mod audit;
#[path = "store/formats.rs"]
mod formats;
#[path = "store/models.rs"]
mod models;
#[path = "store/recording.rs"]
mod recording;
#[path = "store/resuming.rs"]
mod resuming;
#[path = "store/running.rs"]
mod running;
