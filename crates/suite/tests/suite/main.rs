//! The crate from outside: suites written to a temporary folder, loaded, selected, planned, linted.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod benchmark;
mod checks;
mod dialogue;
mod errors;
mod fixture;
mod harbor;
mod layout;
mod lint;
mod office;
mod osuniverse;
mod osuniverse_lint;
mod plan;
mod realtime;
mod reference;
mod selection;
mod shipped_answers;
mod tasks;
