//! Where commands run: one contract, two real implementations (local: bubblewrap; container: Docker
//! or Podman), and a shell session that works in either. Knows nothing of tasks, agents or runs.

mod activity;
pub mod archive;
pub mod capture;
mod changes;
pub mod container;
pub mod contract;
pub mod error;
mod hidden;
pub mod index;
pub mod init;
pub mod limits;
mod links;
pub mod local;
mod mounted;
pub mod owned_folder;
pub mod reaper;
pub mod session;

pub use activity::{Activity, Waiting};
pub use archive::WorkArchive;
pub use changes::{Changes, Words};
pub use contract::{
    Captured, DROP_LINE, DisplayMount, Exec, ExecOutput, Exit, Frozen, HOST, Moment, Owner, Piped,
    Provider, ReadOnlyFolder, Request, Sandbox, Terminal, WORK, WORKSPACE, X_SOCKETS,
};
pub use error::SandboxError;
pub use index::{ArchiveIndex, Held};
pub use limits::Enforcement;
pub use links::treacherous;
pub use local::{LocalConfig, LocalProvider, SEALED};
pub use owned_folder::OwnedFolder;
pub use reaper::{OwnerMark, Reaped, reap_dead_owners};
pub use session::{CommandResult, Left, OutputSink, SessionOptions, ShellSession, Timeouts};
