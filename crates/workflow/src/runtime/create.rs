//! A sandbox with an agent's tools in it, in the hands of a program: it runs actions before the agent's
//! turn, between turns and after them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_core::{Action as Core, Limits, Seconds};
use agon_engine::{Providers, Tools, Workbench};
use agon_sandbox::{Owner, Request, Sandbox, SandboxError};
use tempfile::TempDir;
use tokio::time::{Instant, timeout};

use super::error::RuntimeError;
use crate::config::AppConfig;
use crate::dialect;
use crate::events::{Action, Observation};

/// Beside the time that a command may take.
const GRACE: Duration = Duration::from_secs(60);

/// For everybody in a sandbox to be ended.
const ENDING: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub struct Runtime {
    request: Request,
    limits: Limits,
    providers: Providers,
    connected: Option<Connected>,
    lint: bool,
    /// Those that every shell has.
    pub(super) variables: BTreeMap<String, String>,
    /// For what the shell prints.
    scratch: Arc<TempDir>,
}

#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) sandbox: Box<dyn Sandbox>,
    pub(crate) workbench: Workbench,
}

/// The runtime that a configuration asks for. Nothing is started before [`Runtime::connect`]. Inside,
/// neither the record nor the file that keys of models come from can be seen.
pub fn create_runtime(config: &AppConfig) -> Result<Runtime, RuntimeError> {
    let keys = config.get_llm_config().and_then(|llm| llm.config.file());
    let hidden = keys.into_iter().chain(config.session_folder.as_deref());
    let hidden: Vec<PathBuf> = hidden.map(Path::to_owned).collect();
    Runtime::new(config, agon_engine::providers(&hidden))
}

/// What a sandbox is labelled with.
fn session_name(config: &AppConfig) -> String {
    let folder = config.session_folder.as_deref().and_then(Path::file_name);
    folder.map_or_else(
        || "workflow".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

impl Runtime {
    /// With sandboxes from somewhere else, which many runtimes can share.
    pub fn new(config: &AppConfig, providers: Providers) -> Result<Self, RuntimeError> {
        let limits = config.limits();
        let work = match &config.workspace_base {
            Some(folder) => {
                let context = format!("the workspace {}", folder.display());
                Some(folder.canonicalize().map_err(RuntimeError::io(context))?)
            }
            None => None,
        };
        let scratch = TempDir::new().map_err(RuntimeError::io("no temporary folder"))?;
        Ok(Self {
            request: Request {
                environment: config.environment(),
                owner: Owner {
                    run: session_name(config),
                    trial: "runtime".to_owned(),
                },
                read_only: Vec::new(),
                display: None,
                work,
                start: limits.start.duration(),
            },
            limits,
            providers,
            connected: None,
            lint: config.sandbox.enable_auto_lint,
            variables: BTreeMap::new(),
            scratch: Arc::new(scratch),
        })
    }

    /// A fresh sandbox, ready for actions.
    pub async fn connect(&mut self) -> Result<(), RuntimeError> {
        let provider = self
            .providers
            .of(&self.request.environment)
            .ok_or(RuntimeError::NotConnected)?;
        let sandbox = provider.prepare(&self.request).await?;
        self.connected = Some(Connected {
            sandbox,
            workbench: self.workbench(self.scratch.path()),
        });
        Ok(())
    }

    fn workbench(&self, logs: &Path) -> Workbench {
        Workbench::new(Tools {
            limits: self.limits.clone(),
            cwd: self.request.environment.cwd.clone(),
            shell_log: logs.join("shell.log"),
            lint: self.lint,
        })
    }

    /// Ends every process in it and takes new tools: what follows is not done in the shell of whoever was
    /// there before, with its functions, its working folder and what runs in it. Files stay as they are.
    pub async fn reclaim(&mut self) -> Result<(), RuntimeError> {
        let mut tools = self.workbench(self.scratch.path());
        tools.note_use();
        let Connected { sandbox, workbench } = self.connected_mut()?;
        *workbench = tools;
        let late = |_| SandboxError::Timeout {
            what: "ending its programs",
            seconds: ENDING.as_secs_f64(),
        };
        // What is packed with it is not needed: the sandbox is still there.
        timeout(ENDING, sandbox.freeze()).await.map_err(late)??;
        if !self.variables.is_empty() {
            let variables = self.variables.clone();
            self.add_env_vars(&variables).await?;
        }
        Ok(())
    }

    /// Carries out one action, beside any agent's turn.
    pub async fn run_action(
        &mut self,
        action: impl Into<Action>,
    ) -> Result<Observation, RuntimeError> {
        let action = action.into();
        let told = dialect::core_action(&action)
            .map_err(|error| RuntimeError::Action(error.to_string()))?;
        let asked = match &told {
            Core::Run { wait, timeout, .. } => wait.or(*timeout).map(Seconds::duration),
            _ => action
                .timeout()
                .and_then(Seconds::new)
                .map(Seconds::duration),
        };
        let most = asked.unwrap_or_else(|| self.command_time());
        let deadline = Instant::now() + most + GRACE;
        let Connected { sandbox, workbench } = self.connected_mut()?;
        let seen = workbench
            .perform_within(&**sandbox, &told, most, deadline)
            .await?;
        Ok(dialect::observation(&seen, &action))
    }

    pub(crate) fn connected_mut(&mut self) -> Result<&mut Connected, RuntimeError> {
        self.connected.as_mut().ok_or(RuntimeError::NotConnected)
    }

    pub(super) fn command_time(&self) -> Duration {
        let most = self.limits.patience.unwrap_or(self.limits.command);
        most.duration()
    }

    pub(crate) fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Removes the sandbox, with all that is in it. Dropping does the same without waiting.
    pub async fn close(&mut self) {
        if let Some(Connected { sandbox, .. }) = self.connected.take() {
            sandbox.destroy().await;
        }
    }
}
