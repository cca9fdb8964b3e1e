//! Benchmarks and conversations as programs have them, in real sandboxes.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "workflow/benchmarks.rs"]
mod benchmarks;
#[path = "workflow/conversations.rs"]
mod conversations;
#[path = "workflow/place.rs"]
mod place;
#[path = "workflow/runtimes.rs"]
mod runtimes;
