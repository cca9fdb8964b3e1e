//! The local sandbox with the real bubblewrap: what works, what an agent cannot do, what is left
//! when its owner dies.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

#[path = "scenarios/open_network.rs"]
mod open_network;
#[path = "scenarios/refused.rs"]
mod refused;

#[path = "local/apart.rs"]
mod apart;
#[path = "local/births.rs"]
mod births;
#[path = "local/confinement.rs"]
mod confinement;
#[path = "local/exec.rs"]
mod exec;
#[path = "local/files.rs"]
mod files;
#[path = "local/filtered.rs"]
mod filtered;
#[path = "local/frozen.rs"]
mod frozen;
#[path = "local/ground.rs"]
mod ground;
#[path = "local/limits.rs"]
mod limits;
#[path = "local/listening.rs"]
mod listening;
#[path = "local/mounted.rs"]
mod mounted;
#[path = "local/opened.rs"]
mod opened;
#[path = "local/owner.rs"]
mod owner;
#[path = "local/pauses.rs"]
mod pauses;
#[path = "local/sealed.rs"]
mod sealed;
#[path = "local/terminals.rs"]
mod terminals;
