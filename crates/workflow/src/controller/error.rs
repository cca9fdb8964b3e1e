//! Why an agent could not be let to work at all. What goes wrong while it works is told by its state.

use std::io;

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
}
