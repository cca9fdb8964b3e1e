//! The one place that speaks X: connection, deadline, shared memory.

mod atoms;
mod connection;
mod framing;
mod lines;
mod shared_memory;
mod stream;

pub(crate) use atoms::Atoms;
pub(crate) use connection::XConnection;
pub(crate) use lines::Lines;
pub(crate) use shared_memory::SharedMemory;
pub(crate) use stream::{DeadlineStream, PATIENCE, Scissors, ready};
