//! One place for all tools of one agent: which action goes to which, and how long it may take. Knows
//! neither agents nor the record.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::{Action, Limits, Observation, Seconds};
use agon_sandbox::{Sandbox, SandboxError};
use tokio::time::Instant;

use super::browser::Browser;
use super::cells::Cells;
use super::files::Files;
use super::shell::{AgentShell, Asked};
use super::trouble::Trouble;
use crate::stage::Gone;

/// What an action may take beyond its deadline: to interrupt what it has started, to end that, to look
/// at what came of it.
pub(super) const GRACE: Duration = Duration::from_secs(10);

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
    /// The agent has done something: from then on the sandbox is as the agent made it.
    used: bool,
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
            used: false,
            tools,
        }
    }

    /// Somebody has acted in the sandbox by other means: what its programs can't do any more is no fault of
    /// ours from here on.
    pub fn note_use(&mut self) {
        self.used = true;
    }

    /// Bytes of output that were not kept.
    pub fn dropped(&self) -> u64 {
        self.shell.dropped()
    }

    /// Carries out an action in a sandbox, to the deadline and little longer.
    pub async fn perform(
        &mut self,
        sandbox: &dyn Sandbox,
        action: &Action,
        deadline: Instant,
    ) -> Result<Observation, Gone> {
        let limits = &self.tools.limits;
        // What can't be left running ends when a command would be left.
        let most = limits.patience.unwrap_or(limits.command).duration();
        self.perform_within(sandbox, action, most, deadline).await
    }

    /// The same; `most` is the time for what can't be left running.
    pub async fn perform_within(
        &mut self,
        sandbox: &dyn Sandbox,
        action: &Action,
        most: Duration,
        deadline: Instant,
    ) -> Result<Observation, Gone> {
        let used = std::mem::replace(&mut self.used, true);
        match self.carry_out(sandbox, action, most, deadline).await {
            Ok(seen) => Ok(seen),
            Err(trouble) => trouble.answer(sandbox, used).await,
        }
    }

    async fn carry_out(
        &mut self,
        sandbox: &dyn Sandbox,
        action: &Action,
        most: Duration,
        deadline: Instant,
    ) -> Result<Observation, Trouble> {
        let left = deadline.saturating_duration_since(Instant::now());
        let most = most.min(left);
        match action {
            Action::Run {
                command,
                input,
                timeout,
                wait,
            } => {
                let asked = Asked {
                    command,
                    input: *input,
                    timeout: timeout.map(Seconds::duration),
                    wait: wait.map(Seconds::duration),
                    deadline,
                };
                self.shell.run(sandbox, asked).await
            }
            Action::Read { .. }
            | Action::Write { .. }
            | Action::Edit { .. }
            | Action::Insert { .. }
            | Action::Undo { .. } => Ok(in_time(most, self.files.perform(sandbox, action)).await?),
            Action::Cell { code } => Ok(self.cells.run(sandbox, code, most, deadline).await?),
            Action::Browse { code } => Ok(self.browser.act(sandbox, code, most, deadline).await?),
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
