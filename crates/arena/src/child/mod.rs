//! An agent in a process of its own, which can be killed. Server and child speak JSON lines over the
//! child's standard input and output; the child dies with the server.

mod lines;
mod message;
mod outlet;
mod process;
mod release;
mod runner;
mod serve;

pub(crate) use runner::Child;
pub use runner::ProcessAgent;
pub use serve::{is_child, serve};
