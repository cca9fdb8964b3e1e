//! Why a server can't be started or a client can't go on.

use std::io;

use agon_desktop::DesktopError;

#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    #[error(
        "{host} can be reached from other machines, and whoever reaches it has the keyboard; give a \
         token, or listen on 127.0.0.1"
    )]
    Open { host: String },
    #[error("can't listen on {address}: {source}; choose another port, or end who listens there")]
    Listen {
        address: String,
        #[source]
        source: io::Error,
    },
    #[error("can't start the server: {0}")]
    Runtime(#[source] io::Error),
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    /// The address of a peer that is none.
    #[error("{0}")]
    Address(String),
    #[error("can't start {program}: {source}; give the path of an agent that speaks JSON lines")]
    Child {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("{0}")]
    Unsupported(&'static str),
    /// A task whose desktop, programs or servers could not be started.
    #[error("{0}")]
    Unplayed(String),
    /// A peer that does not answer, or not as it must.
    #[error("{url}: {problem}")]
    Peer { url: String, problem: String },
    #[error("can't write {path}: {source}")]
    Report {
        path: String,
        #[source]
        source: io::Error,
    },
}
