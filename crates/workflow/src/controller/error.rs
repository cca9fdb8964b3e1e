//! Why an agent could not be let to work at all. What goes wrong while it works is told by its state.

use std::io;
use std::path::PathBuf;

use agon_agent::SetupError;
use agon_store::StoreError;

use crate::runtime::RuntimeError;

#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Agent(#[from] SetupError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the record of the session can't be written: {0}")]
    Record(#[from] io::Error),
    #[error(
        "the run's budget of money would stop nothing: nobody knows what calls of `{0}` cost. Give \
         input_cost_per_token and output_cost_per_token in its section, or limit tokens"
    )]
    NoPrice(String),
    #[error("the trajectory {path}: {why}")]
    Trajectory { path: String, why: String },
    #[error("the session {} is in use by another agon: wait for it, or choose another name", .0.display())]
    Busy(PathBuf),
    #[error("the session {} can't be gone on with: {why}; choose another name", path.display())]
    Session { path: PathBuf, why: String },
    #[error(
        "`{0}` can't take up an earlier conversation, only CodeActAgent can: choose that, or another name \
         for a session of its own"
    )]
    NoMemory(String),
    #[error(
        "a trajectory is played again in a new session, and there is one in {}: choose another name",
        .0.display()
    )]
    TwoPasts(PathBuf),
}
