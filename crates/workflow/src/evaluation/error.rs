//! Why an instance has no result. It is tried again, and its failure is never a result.

use crate::controller::ControllerError;
use crate::eval::EvalFileError;
use crate::runtime::RuntimeError;

#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// Something of ours, or a service, failed while the agent worked.
    #[error("{0}")]
    Fault(String),
    /// Nothing is left of the run's budget. The same call with more goes on.
    #[error("{0}")]
    Spent(String),
    #[error("took longer than {0} s")]
    Timeout(u64),
    #[error("its code panicked: {0}")]
    Panicked(String),
    /// For benchmarks: what they expected of a runtime was not so.
    #[error("{0}")]
    Own(String),
    #[error(transparent)]
    Files(#[from] EvalFileError),
    #[error("{context}: {source}")]
    Io {
        context: String,
        source: std::io::Error,
    },
}
