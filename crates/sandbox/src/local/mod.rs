//! Sandboxes on this machine: one bubblewrap process each, with our own init inside. Files and
//! programs of the sandbox are reached only through that init; nothing of an agent's is ever
//! opened by path from here.

mod body;
mod bubblewrap;
mod filter;
mod keyring;
mod link;
mod network;
mod pack;
mod provider;
mod readiness;
mod run;
mod sandbox;
pub(crate) mod scratch;
mod seal;
pub(crate) mod slot;
mod terminal;
mod worker;

pub use filter::{FILTER_AT, hand_filter};
pub use network::open_networks;
pub(crate) use network::{OpenNetwork, Uplink};
pub use provider::{LocalConfig, LocalProvider};
pub use seal::SEALED;
pub use worker::spawn_lasting;
