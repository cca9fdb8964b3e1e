//! What can go wrong with a runtime, other than what a command did wrong.

use agon_core::Fault;
use agon_engine::Gone;
use agon_sandbox::SandboxError;

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("the runtime is not connected: call connect() first")]
    NotConnected,
    #[error("AgentRuntimeError: {0}")]
    Sandbox(SandboxError),
    #[error("AgentRuntimeDisconnectedError: {0}")]
    Gone(String),
    /// The agent's doing, and no fault.
    #[error("AgentRuntimeDisconnectedError: the agent brought it down")]
    BroughtDown,
    /// What the agent left is not what was looked for.
    #[error("{0}")]
    Unusable(String),
    #[error("{0}")]
    Action(String),
    #[error("{context}: {source}")]
    Io {
        context: String,
        source: std::io::Error,
    },
}

impl From<SandboxError> for RuntimeError {
    fn from(error: SandboxError) -> Self {
        match error.of_agent() {
            true => Self::BroughtDown,
            false => Self::Sandbox(error),
        }
    }
}

impl From<Gone> for RuntimeError {
    fn from(gone: Gone) -> Self {
        match gone {
            Gone::UserLeft | Gone::Spent(_) => Self::Gone("the user left".to_owned()),
            Gone::BroughtDown => Self::BroughtDown,
            Gone::ScreenLost(why) | Gone::Fault(Fault { message: why, .. }) => Self::Gone(why),
        }
    }
}

impl RuntimeError {
    /// Whether the agent can have caused it, where the agent has been: then it is graded by what it left,
    /// which is nothing, and not played again.
    pub fn of_agent(&self) -> bool {
        matches!(
            self,
            Self::BroughtDown
                | Self::Unusable(_)
                | Self::Sandbox(SandboxError::Denied(_) | SandboxError::Timeout { .. })
        )
    }

    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let context = context.into();
        move |source| Self::Io { context, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_can_have_caused_is_told_from_what_it_can_not() {
        let late = SandboxError::Timeout {
            what: "a command",
            seconds: 1.0,
        };
        let errors: [(RuntimeError, bool); 8] = [
            (SandboxError::OutOfMemory.into(), true),
            (Gone::BroughtDown.into(), true),
            (SandboxError::Denied("disk full".to_owned()).into(), true),
            (late.into(), true),
            (SandboxError::Gone("power cut".to_owned()).into(), false),
            (SandboxError::Start("no bwrap".to_owned()).into(), false),
            (RuntimeError::NotConnected, false),
            (RuntimeError::Action("no variable".to_owned()), false),
        ];
        for (error, of_agent) in errors {
            assert_eq!(error.of_agent(), of_agent, "{error}");
        }
    }
}
