//! Where commands run: one contract, two real implementations (local: bubblewrap; container: Docker
//! or Podman), and a shell session that works in either. Knows nothing of tasks, agents or runs.

pub mod archive;
pub mod contract;
pub mod error;

pub use archive::WorkArchive;
pub use contract::{
    Captured, Exec, ExecOutput, Exit, Frozen, Owner, Piped, Provider, ReadOnlyFolder, Request,
    Sandbox, Terminal, WORK,
};
pub use error::SandboxError;
