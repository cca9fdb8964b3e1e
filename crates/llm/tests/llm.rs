//! The client against real servers on this machine: kind ones, hostile ones, and none at all. Waits are
//! handed in, so that nothing here waits for seconds.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "llm/blame.rs"]
mod blame;
#[path = "llm/bodies.rs"]
mod bodies;
#[path = "llm/books.rs"]
mod books;
#[path = "llm/broken.rs"]
mod broken;
#[path = "llm/many.rs"]
mod many;
#[path = "llm/parameters.rs"]
mod parameters;
#[path = "llm/place.rs"]
mod place;
#[path = "llm/refusals.rs"]
mod refusals;
#[path = "llm/secrets.rs"]
mod secrets;
#[path = "llm/server.rs"]
mod server;
#[path = "llm/streams.rs"]
mod streams;
#[path = "llm/tapes.rs"]
mod tapes;
#[path = "llm/tls.rs"]
mod tls;
#[path = "llm/vendors.rs"]
mod vendors;
