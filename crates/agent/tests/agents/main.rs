//! Agents as the engine meets them: real programs, real sockets, hostile ones included.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod built_in;
mod confined;
mod example;
mod host;
mod http;
mod support;
