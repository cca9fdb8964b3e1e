//! All local models of a process: each is started when it is first asked, and shared by all who ask.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::ModelFault;

use super::server::Server;
use super::{program, weights};
use crate::error::LlmError;

/// What is said while something is fetched.
type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// The server of one file, with who waits for it.
#[derive(Debug, Default)]
struct Slot {
    server: tokio::sync::Mutex<Option<Server>>,
    /// How the last start failed, and how many had failed then.
    failed: Mutex<(u64, Option<LlmError>)>,
}

impl Slot {
    /// Failed starts so far.
    fn failures(&self) -> u64 {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.0
    }

    /// The failure of a start since there were `before`: who waited for it is told, and does not wait once
    /// more for the same.
    fn failure_since(&self, before: u64) -> Option<LlmError> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.1.clone().filter(|_| failed.0 > before)
    }

    async fn socket(
        &self,
        program: &Path,
        weights: &Path,
        before: u64,
    ) -> Result<PathBuf, LlmError> {
        let mut server = self.server.lock().await;
        if let Some(server) = server.as_mut()
            && server.is_alive()
        {
            return Ok(server.socket());
        }
        if let Some(error) = self.failure_since(before) {
            return Err(error);
        }
        match Server::start(program, weights).await {
            Ok(started) => Ok(server.insert(started).socket()),
            Err(error) => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                *failed = (failed.0 + 1, Some(error.clone()));
                Err(error)
            }
        }
    }
}

/// Ends its servers when it is dropped.
#[derive(Default)]
pub struct LocalServers {
    slots: Mutex<HashMap<PathBuf, Arc<Slot>>>,
    /// The file of SmolLM2, once it has been verified.
    smollm2: tokio::sync::OnceCell<PathBuf>,
    tell: Option<Tell>,
}

impl std::fmt::Debug for LocalServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalServers").finish_non_exhaustive()
    }
}

impl LocalServers {
    /// `tell` is given what a user who waits should know.
    pub fn telling(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            tell: Some(Box::new(tell)),
            ..Self::default()
        }
    }

    /// The socket at which `model` (what follows `local/`) can be asked, in chat completions. Starts its
    /// server if it does not run; the first use of SmolLM2 fetches it. Weights that are being loaded go on
    /// being loaded for the next one if nobody waits any more.
    pub async fn socket(&self, model: &str) -> Result<PathBuf, LlmError> {
        let program = program::find()?;
        let weights = self.weights(model).await?;
        self.started(program, weights).await
    }

    async fn started(&self, program: PathBuf, weights: PathBuf) -> Result<PathBuf, LlmError> {
        let slot = self.slot(&weights);
        let before = slot.failures();
        let start = tokio::spawn(async move { slot.socket(&program, &weights, before).await });
        start
            .await
            .unwrap_or_else(|error| Err(LlmError::new(ModelFault::Setup, error)))
    }

    /// After a call that broke: if the server crashed, that is what there is to say.
    pub async fn explain(&self, model: &str, error: LlmError) -> LlmError {
        let Ok(weights) = self.weights(model).await else {
            return error;
        };
        let slot = self.slot(&weights);
        let mut server = slot.server.lock().await;
        match server.as_mut() {
            Some(server) => server.crash().await.unwrap_or(error),
            None => error,
        }
    }

    fn slot(&self, weights: &Path) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(weights.to_owned()).or_default())
    }

    async fn weights(&self, model: &str) -> Result<PathBuf, LlmError> {
        if model != weights::SMOLLM2 {
            return weights::file(model);
        }
        let install = || async {
            if let Some(tell) = self.tell.as_ref().filter(|_| !weights::smollm2_is_there()) {
                tell("fetching SmolLM2-135M-Instruct (90 MB) for local/smollm2");
            }
            let installed = tokio::task::spawn_blocking(|| weights::install_smollm2(None)).await;
            installed.unwrap_or_else(|error| Err(LlmError::new(ModelFault::Setup, error)))
        };
        self.smollm2.get_or_try_init(install).await.cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    /// A program in the place of the server: counts its starts in a file beside it.
    fn program(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("program");
        let staged = folder.join("staged");
        let text = format!(
            "#!/bin/sh\necho >> '{}'\n{text}\n",
            folder.join("starts").display()
        );
        std::fs::write(&staged, text).unwrap();
        std::fs::set_permissions(&staged, std::fs::Permissions::from_mode(0o700)).unwrap();
        // Through another process: a file that is open for writing anywhere can't be executed.
        let copied = std::process::Command::new("cp")
            .arg(&staged)
            .arg(&path)
            .status();
        assert!(copied.unwrap().success());
        path
    }

    fn starts(folder: &Path) -> usize {
        let text = std::fs::read_to_string(folder.join("starts"));
        text.unwrap_or_default().lines().count()
    }

    async fn until(condition: impl Fn() -> bool) {
        let waited = tokio::time::timeout(Duration::from_secs(30), async {
            while !condition() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        waited.await.unwrap();
    }

    #[tokio::test]
    async fn who_waits_for_a_start_that_fails_is_told_and_starts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        let text = format!(
            "while [ ! -e '{}' ]; do sleep 0.01; done; exit 3",
            go.display()
        );
        let program = program(folder.path(), &text);
        let servers = LocalServers::default();
        let ask = || servers.started(program.clone(), PathBuf::from("x.gguf"));
        let gone = async {
            until(|| starts(folder.path()) == 1).await;
            std::fs::write(&go, "").unwrap();
        };
        let (first, second, third, ()) = tokio::join!(ask(), ask(), ask(), gone);
        assert_eq!(first.as_ref().unwrap_err().fault, ModelFault::Setup);
        assert_eq!((&first, &first), (&second, &third));
        assert_eq!(starts(folder.path()), 1);
        // Whoever comes later may find it mended.
        assert!(ask().await.is_err());
        assert_eq!(starts(folder.path()), 2);
    }

    #[tokio::test]
    async fn weights_are_loaded_to_the_end_though_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        let text = format!(
            "while [ ! -e '{}' ]; do sleep 0.01; done; echo ready; cat",
            go.display()
        );
        let program = program(folder.path(), &text);
        let servers = LocalServers::default();
        let ask = || servers.started(program.clone(), PathBuf::from("x.gguf"));
        tokio::select! {
            _ = ask() => unreachable!("it can't be ready"),
            () = until(|| starts(folder.path()) == 1) => {}
        }
        std::fs::write(&go, "").unwrap();
        ask().await.unwrap();
        assert_eq!(starts(folder.path()), 1);
    }

    #[tokio::test]
    async fn a_server_that_ended_is_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), "echo ready; cat");
        let servers = LocalServers::default();
        let ask = || servers.started(program.clone(), PathBuf::from("x.gguf"));
        let first = ask().await.unwrap();
        let slot = servers.slot(Path::new("x.gguf"));
        slot.server.lock().await.as_mut().unwrap().end().await;
        let second = ask().await.unwrap();
        assert_ne!(first, second);
        assert_eq!(starts(folder.path()), 2);
    }
}
