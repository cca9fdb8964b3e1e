//! Weights on this machine, served by the helper program `agon-local` over a private socket. What is
//! asked and answered there is no matter of this folder: it is chat completions, as everywhere else.

mod fingerprint;
mod program;
mod server;
mod servers;
mod weights;

pub use fingerprint::fingerprint;
pub use servers::LocalServers;
pub use weights::{SMOLLM2, check, install_smollm2};
