//! What reports say about runs that are made up here, line by line.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod compared;
mod counting;
mod fixture;
mod folder;
mod formats;
mod hostile;
mod models;
mod osuniverse;
mod predicted;
mod reviewed;
