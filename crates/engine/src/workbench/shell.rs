//! The agent's persistent shell: commands, input, control keys, and what is shown of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Fault, FaultClass, Limits, Observation};
use agon_sandbox::session::{CommandResult, SessionOptions, ShellSession, Timeouts};
use agon_sandbox::{Sandbox, SandboxError};

use super::bench::answered;
use crate::attempt::evidence_lost;
use crate::shell_log::ShellLog;
use crate::stage::Gone;

#[derive(Debug)]
pub(super) struct AgentShell {
    shell: Option<(ShellSession, ShellLog)>,
    limits: Limits,
    cwd: Option<String>,
    /// Where all that it prints goes.
    log: PathBuf,
}

impl AgentShell {
    pub(super) fn new(limits: Limits, cwd: Option<String>, log: PathBuf) -> Self {
        Self {
            shell: None,
            limits,
            cwd,
            log,
        }
    }

    /// Bytes of output that were not kept.
    pub(super) fn dropped(&self) -> u64 {
        self.shell.as_ref().map_or(0, |(shell, _)| shell.dropped())
    }

    pub(super) async fn run(
        &mut self,
        sandbox: &dyn Sandbox,
        command: &str,
        input: bool,
        timeouts: Timeouts,
    ) -> Result<Observation, Gone> {
        if self.shell.is_none() {
            match open(sandbox, &self.limits, self.cwd.as_deref(), &self.log).await {
                Ok(shell) => self.shell = Some(shell),
                Err(error) => return answered(Err(error)),
            }
        }
        let Some((shell, log)) = &mut self.shell else {
            return Err(Gone::Fault(Fault::new(
                FaultClass::Internal,
                "the shell is not open",
            )));
        };
        let result = if input && is_control_key(command) {
            shell.send_key(sandbox, command, timeouts).await
        } else if input {
            shell.send_input(sandbox, command, timeouts).await
        } else if command.trim().is_empty() {
            shell.wait(sandbox, timeouts).await
        } else {
            shell.run(sandbox, command, timeouts).await
        };
        match result {
            Ok(result) => shown(result, &self.limits, timeouts.hard, log),
            // There was a shell before: the agent ended it and keeps a new one from starting.
            Err(error @ (SandboxError::Missing(_) | SandboxError::Timeout { .. })) => {
                Ok(Observation::error(format!("there is no shell: {error}")))
            }
            Err(error) => answered(Err(error)),
        }
    }
}

async fn open(
    sandbox: &dyn Sandbox,
    limits: &Limits,
    cwd: Option<&str>,
    log: &Path,
) -> Result<(ShellSession, ShellLog), SandboxError> {
    let small = usize::try_from(limits.view.0).unwrap_or(usize::MAX);
    let log = ShellLog::new(log.to_owned(), small);
    let sink = log.clone();
    let mut options = SessionOptions::new(Box::new(move |bytes: &[u8]| sink.write(bytes)));
    options.view = limits.view.0;
    options.output = limits.output.0;
    options.start = limits.start.duration();
    if let Some(cwd) = cwd {
        cwd.clone_into(&mut options.cwd);
    }
    Ok((ShellSession::open(sandbox, options).await?, log))
}

/// `C-c` and the like.
fn is_control_key(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('C') && chars.next() == Some('-') && chars.clone().count() == 1
}

fn shown(
    result: CommandResult,
    limits: &Limits,
    hard: Duration,
    log: &ShellLog,
) -> Result<Observation, Gone> {
    let lost = |error| Gone::Fault(evidence_lost(&error));
    let head = usize::try_from(limits.view.0.div_ceil(2)).unwrap_or(usize::MAX);
    let bytes = &result.output.bytes;
    let mut text = if result.output.omitted == 0 {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        let (head, tail) = bytes.split_at(head.min(bytes.len()));
        format!(
            "{}\n[... {} bytes left out ...]\n{}",
            String::from_utf8_lossy(head),
            result.output.omitted,
            String::from_utf8_lossy(tail)
        )
    };
    if result.output.omitted > 0 || std::str::from_utf8(bytes).is_err() {
        log.keep().map_err(lost)?;
    }
    if result.timed_out {
        text += &format!("\n[killed after {} s]", hard.as_secs_f64());
    }
    if result.restarted {
        text += "\n[the shell was started anew in its first folder]";
    }
    let mut seen = Observation::new(ObservationKind::Output, text);
    seen.exit_status = result.exit;
    seen.running = result.running;
    seen.cwd = Some(result.cwd);
    seen.omitted = result.output.omitted;
    Ok(seen)
}
