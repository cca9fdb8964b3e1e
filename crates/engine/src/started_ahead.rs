//! The sandbox of a trial's first check, started while the agent's container is being cut off: to start one takes about
//! as long as to end and empty the other. Nothing of the agent or of a check is in it before the check asks for it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use agon_sandbox::{Provider, Request, Sandbox, SandboxError};
use tokio::task::JoinHandle;

use crate::table::Table;

type Starting = JoinHandle<Result<Box<dyn Sandbox>, SandboxError>>;

/// Gives the sandbox that it has started to the first who asks, and new ones to others.
pub(crate) struct StartedAhead {
    provider: Arc<dyn Provider>,
    table: Arc<Table>,
    first: Mutex<Option<Starting>>,
}

impl StartedAhead {
    pub(crate) fn new(table: &Arc<Table>, request: Request) -> Option<Self> {
        let provider = Arc::clone(table.providers.of(&request.environment)?);
        let starting = {
            let provider = Arc::clone(&provider);
            tokio::spawn(async move { provider.prepare(&request).await })
        };
        Some(Self {
            provider,
            table: Arc::clone(table),
            first: Mutex::new(Some(starting)),
        })
    }

    fn take(&self) -> Option<Starting> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.take()
    }
}

impl fmt::Debug for StartedAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StartedAhead({:?})", self.provider)
    }
}

/// One that no check wanted is removed like all others, and waited for at the end of the run.
impl Drop for StartedAhead {
    fn drop(&mut self) {
        if let Some(starting) = self.take() {
            self.table.removals.take_started(starting);
        }
    }
}

#[async_trait::async_trait]
impl Provider for StartedAhead {
    async fn prepare(&self, request: &Request) -> Result<Box<dyn Sandbox>, SandboxError> {
        match self.take() {
            Some(starting) => starting
                .await
                .map_err(|error| SandboxError::Start(error.to_string()))?,
            None => self.provider.prepare(request).await,
        }
    }

    async fn describe(&self) -> Result<String, SandboxError> {
        self.provider.describe().await
    }
}
