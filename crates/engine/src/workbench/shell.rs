//! The agent's persistent shell: commands, input, control keys, and what is shown of them. Does not
//! know which limits a task has; each call brings its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Fault, FaultClass, Limits, Observation, Seconds};
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

/// What is asked of the shell, and how long that may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) command: &'a str,
    pub(super) input: bool,
    /// From the start of the command; then it is killed.
    pub(super) hard: Duration,
    /// In place of the quiet time: then it is left running.
    pub(super) wait: Option<Duration>,
    /// What the turn has left; a command is killed with it.
    pub(super) left: Duration,
}

/// What the words of an agent mean to the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Command,
    Line,
    Key,
    More,
}

impl Meaning {
    /// A key is meant for a program even where the agent forgot to say so: no command is called
    /// like one.
    fn of(command: &str, input: bool) -> Self {
        let word = command.trim();
        if is_control_key(word) {
            Self::Key
        } else if input {
            Self::Line
        } else if word.is_empty() {
            Self::More
        } else {
            Self::Command
        }
    }
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
        asked: Asked<'_>,
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
        let before = shell.running_for().unwrap_or_default();
        let timeouts = Timeouts {
            hard: asked.hard.min(before.saturating_add(asked.left)),
            quiet: self.limits.quiet.duration(),
            wait: asked.wait,
            patience: self.limits.patience.map(Seconds::duration),
        };
        let command = asked.command;
        let result = match Meaning::of(command, asked.input) {
            Meaning::Key => shell.send_key(sandbox, command.trim(), timeouts).await,
            Meaning::Line => shell.send_input(sandbox, command, timeouts).await,
            Meaning::More => shell.wait(sandbox, timeouts).await,
            Meaning::Command => shell.run(sandbox, command, timeouts).await,
        };
        match result {
            Ok(result) => shown(result, &self.limits, timeouts, log),
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
    // A pager waits for somebody to press a key.
    let pagers = ["PAGER", "GIT_PAGER"].map(|name| (name.to_owned(), "cat".to_owned()));
    options.env.extend(pagers);
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
    timeouts: Timeouts,
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
        text += &format!("\n[killed after {} s]", timeouts.hard.as_secs_f64());
    }
    if result.restarted {
        text += "\n[the shell was started anew in its first folder]";
    }
    if result.running {
        let why = match timeouts.wait {
            Some(wait) => format!("still running after {} s", wait.as_secs_f64()),
            None => format!(
                "still running, without new output for {} s",
                timeouts.quiet.as_secs_f64()
            ),
        };
        text += &format!(
            "\n[{why}: send an empty command to wait on (with `wait` for longer), a line with \
             `input: true` to answer it, or C-c with `input: true` to interrupt it]"
        );
    }
    let mut seen = Observation::new(ObservationKind::Output, text);
    seen.exit_status = result.exit;
    seen.running = result.running;
    seen.cwd = Some(result.cwd);
    seen.omitted = result.output.omitted;
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_means() {
        for (command, input, meaning) in [
            ("ls", false, Meaning::Command),
            ("a\nb", false, Meaning::Command),
            ("", false, Meaning::More),
            (" \n", false, Meaning::More),
            ("", true, Meaning::Line),
            ("yes", true, Meaning::Line),
            (" ", true, Meaning::Line),
            ("C-c", true, Meaning::Key),
            ("C-c", false, Meaning::Key),
            ("C-d\n", false, Meaning::Key),
            ("C-cc", false, Meaning::Command),
            ("C-c now", true, Meaning::Line),
        ] {
            assert_eq!(Meaning::of(command, input), meaning, "{command:?} {input}");
        }
    }
}
