//! The program that runs as process 1 inside of a local sandbox: the same executable as the host's,
//! started again under bubblewrap. It starts and ends programs, moves files, and packs the working
//! folder when everybody else is dead. It trusts its socket and nothing inside of the sandbox, and
//! knows nothing of the host beyond what arrives over that socket.

mod births;
mod domain;
mod files;
pub(crate) mod network;
mod pack;
pub(crate) mod processes;
mod programs;
pub(crate) mod routes;
mod serve;
mod standstill;
mod unpack;
pub(crate) mod wire;

pub use serve::{main, take_over};

/// The first argument by which a host executable is told to be the init.
pub const ARGUMENT: &str = "__sandbox-init";
