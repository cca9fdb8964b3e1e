//! What can go wrong with a runtime, other than what a command did wrong.

use agon_core::Fault;
use agon_engine::Gone;
use agon_sandbox::SandboxError;

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("the runtime is not connected: call connect() first")]
    NotConnected,
    #[error("AgentRuntimeError: {0}")]
    Sandbox(#[from] SandboxError),
    #[error("AgentRuntimeDisconnectedError: {0}")]
    Gone(String),
    #[error("{0}")]
    Action(String),
    #[error("{context}: {source}")]
    Io {
        context: String,
        source: std::io::Error,
    },
}

impl From<Gone> for RuntimeError {
    fn from(gone: Gone) -> Self {
        match gone {
            Gone::UserLeft | Gone::Spent(_) => Self::Gone("the user left".to_owned()),
            Gone::BroughtDown => Self::Gone("it ran out of memory".to_owned()),
            Gone::ScreenLost(why) | Gone::Fault(Fault { message: why, .. }) => Self::Gone(why),
        }
    }
}

impl RuntimeError {
    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let context = context.into();
        move |source| Self::Io { context, source }
    }
}
