//! One place for all tools of one agent: which action goes to which, and how long it may take. Knows
//! neither agents nor the record.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::{Action, Limits, Observation};
use agon_sandbox::{Sandbox, SandboxError};
use tokio::time::Instant;

use super::browser::Browser;
use super::cells::Cells;
use super::files::Files;
use super::shell::{AgentShell, Asked};
use crate::stage::Gone;

/// What a workbench is made from.
#[derive(Debug, Clone)]
pub struct Tools {
    pub limits: Limits,
    /// Where commands start; `None`: in the working folder.
    pub cwd: Option<String>,
    /// The file for all that the shell prints.
    pub shell_log: PathBuf,
    /// Say what is wrong with a source file after it was changed.
    pub lint: bool,
}

/// The tools as one agent left them: its shell, its interpreter, the changes it can take back.
#[derive(Debug)]
pub struct Workbench {
    tools: Tools,
    shell: AgentShell,
    files: Files,
    cells: Cells,
    browser: Browser,
}

impl Workbench {
    pub fn new(tools: Tools) -> Self {
        Self {
            shell: AgentShell::new(
                tools.limits.clone(),
                tools.cwd.clone(),
                tools.shell_log.clone(),
            ),
            files: Files::new(&tools),
            cells: Cells::new(tools.limits.clone(), tools.cwd.clone()),
            browser: Browser::new(tools.limits.clone(), tools.cwd.clone()),
            tools,
        }
    }

    /// Bytes of output that were not kept.
    pub fn dropped(&self) -> u64 {
        self.shell.dropped()
    }

    /// Carries out an action in a sandbox, at most to the deadline.
    pub async fn perform(
        &mut self,
        sandbox: &dyn Sandbox,
        action: &Action,
        deadline: Instant,
    ) -> Result<Observation, Gone> {
        let left = deadline.saturating_duration_since(Instant::now());
        let limits = &self.tools.limits;
        // What can't be left running ends when a command would be left.
        let most = limits.patience.unwrap_or(limits.command);
        let most = most.duration().min(left);
        match action {
            Action::Run {
                command,
                input,
                timeout,
                wait,
            } => {
                let hard = timeout.map_or(limits.command.duration(), |asked| {
                    asked.duration().min(limits.command.duration())
                });
                let asked = Asked {
                    command,
                    input: *input,
                    hard,
                    wait: wait.map(|wait| wait.duration().min(limits.command.duration())),
                    left,
                };
                self.shell.run(sandbox, asked).await
            }
            Action::Read { .. }
            | Action::Write { .. }
            | Action::Edit { .. }
            | Action::Insert { .. }
            | Action::Undo { .. } => {
                answered(in_time(most, self.files.perform(sandbox, action)).await)
            }
            Action::Cell { code } => self.cells.run(sandbox, code, most).await,
            Action::Browse { code } => self.browser.act(sandbox, code, most).await,
            action => Ok(Observation::error(format!(
                "there is no `{}` here",
                action.kind()
            ))),
        }
    }
}

/// A file action that takes too long is answered as an error: what is slow there is the agent's.
async fn in_time(
    most: Duration,
    work: impl Future<Output = Result<Observation, SandboxError>>,
) -> Result<Observation, SandboxError> {
    let late = format!("took longer than {} s", most.as_secs_f64());
    tokio::time::timeout(most, work)
        .await
        .unwrap_or(Err(SandboxError::Denied(late)))
}

/// What the agent did wrong is an answer for it; the rest is not.
pub(super) fn answered(result: Result<Observation, SandboxError>) -> Result<Observation, Gone> {
    match result {
        Ok(seen) => Ok(seen),
        Err(SandboxError::Denied(why)) => Ok(Observation::error(why)),
        Err(error) => Err(error.into()),
    }
}
