//! What keeps a tool from answering, and whose doing that is. Knows nothing of the tools.

use agon_core::{Fault, Observation};
use agon_sandbox::{Sandbox, SandboxError};

use crate::stage::Gone;

#[derive(Debug)]
pub(super) enum Trouble {
    Sandbox(SandboxError),
    Fault(Fault),
}

impl From<SandboxError> for Trouble {
    fn from(error: SandboxError) -> Self {
        Self::Sandbox(error)
    }
}

impl Trouble {
    /// What the agent did is an answer for it; the rest is not. In a sandbox that it has `used` it can
    /// keep any program from starting: what does not start there is its own doing, as long as the
    /// sandbox is there at all.
    pub(super) async fn answer(
        self,
        sandbox: &dyn Sandbox,
        used: bool,
    ) -> Result<Observation, Gone> {
        match self {
            Self::Fault(fault) => Err(Gone::Fault(fault)),
            Self::Sandbox(SandboxError::Denied(why)) => Ok(Observation::error(why)),
            Self::Sandbox(
                error @ (SandboxError::Missing(_)
                | SandboxError::Start(_)
                | SandboxError::Timeout { .. }),
            ) if used => {
                sandbox.remains().await?;
                Ok(Observation::error(error.to_string()))
            }
            Self::Sandbox(error) => Err(error.into()),
        }
    }
}
