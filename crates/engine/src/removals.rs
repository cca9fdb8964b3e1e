//! Sandboxes on their way out. Removing a container takes as long as a command in it, and nobody has
//! to wait for that: the next trial begins meanwhile. Bounded, so that they can't pile up, and waited
//! for before a run ends.

use std::time::Duration;

use agon_sandbox::{Sandbox, SandboxError};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// More than these are not left waiting.
const MOST: usize = 8;

/// What takes longer is removed by the next start.
const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub struct Removals(TaskTracker);

impl Removals {
    pub(crate) async fn take(&self, sandbox: Box<dyn Sandbox>) {
        let removal = async move {
            timeout(DEADLINE, sandbox.destroy()).await.ok();
        };
        if self.0.len() < MOST {
            self.0.spawn(removal);
        } else {
            removal.await;
        }
    }

    /// One that is still being started.
    pub(crate) fn take_started(
        &self,
        starting: JoinHandle<Result<Box<dyn Sandbox>, SandboxError>>,
    ) {
        self.0.spawn(async move {
            if let Ok(Ok(sandbox)) = starting.await {
                timeout(DEADLINE, sandbox.destroy()).await.ok();
            }
        });
    }

    /// Everything taken so far is gone, or its deadline is over.
    pub(crate) async fn finish(&self) {
        self.0.close();
        self.0.wait().await;
        self.0.reopen();
    }
}
