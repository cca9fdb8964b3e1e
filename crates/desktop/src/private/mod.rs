//! An X server of our own: its jail, its start and its end.

mod jail;
mod programs;
mod server;
mod state;

pub use programs::describe;
pub(crate) use server::PrivateServer;
pub use state::ServerState;
