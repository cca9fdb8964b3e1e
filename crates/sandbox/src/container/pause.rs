//! Holding a container still. Not by the engine, which would hold its X server, too: nobody could look
//! at the screen, and the engine refuses to cut off what it holds.

use std::time::Duration;

use tokio::sync::Mutex;

use super::sandbox::Container;
use crate::contract::Exec;
use crate::error::SandboxError;

/// What is described in it.
const SCRIPT: &str = include_str!("pause.sh");

const DEADLINE: Duration = Duration::from_secs(20);

/// Who was stopped, while somebody is.
#[derive(Debug, Default)]
pub(super) struct Pause {
    stopped: Mutex<Option<Vec<String>>>,
}

impl Pause {
    pub(super) async fn begin(&self, container: &Container) -> Result<(), SandboxError> {
        let mut stopped = self.stopped.lock().await;
        if stopped.is_none() {
            *stopped = Some(run(container, "stop", &[]).await?);
        }
        Ok(())
    }

    pub(super) async fn end(&self, container: &Container) -> Result<(), SandboxError> {
        let mut stopped = self.stopped.lock().await;
        if let Some(pids) = stopped.as_deref() {
            run(container, "go", pids).await?;
            *stopped = None;
        }
        Ok(())
    }
}

/// The words after the first of what it prints.
async fn run(
    container: &Container,
    mode: &str,
    pids: &[String],
) -> Result<Vec<String>, SandboxError> {
    let command = ["sh", "-c", SCRIPT, "sh", mode].map(str::to_owned);
    let mut exec = Exec::new(command.into_iter().chain(pids.iter().cloned()), DEADLINE);
    exec.cwd = "/".to_owned();
    let output = container.run(&exec).await?;
    let said = String::from_utf8_lossy(&output.stdout.bytes);
    let mut words = said.split_ascii_whitespace().map(str::to_owned);
    // A broken `sh` may end well and say nothing.
    match words.next() {
        Some(_) if output.exit.success() => Ok(words.collect()),
        _ => {
            let why = String::from_utf8_lossy(&output.stderr.bytes);
            let why: String = why.trim().chars().take(200).collect();
            let exit = output.exit;
            Err(SandboxError::Denied(format!(
                "the container can't be held still: {exit}: {why}"
            )))
        }
    }
}
