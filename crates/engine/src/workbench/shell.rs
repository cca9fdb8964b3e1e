//! The agent's persistent shell: commands, input, control keys, and what is shown of them. Does not
//! know which limits a task has; each call brings its own.

use std::path::PathBuf;
use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Limits, Observation, Seconds};
use agon_sandbox::Sandbox;
use agon_sandbox::session::{CommandResult, Left, SessionOptions, ShellSession, Timeouts};
use tokio::time::{Instant, timeout_at};

use super::bench::GRACE;
use super::trouble::Trouble;
use crate::attempt::evidence_lost;
use crate::shell_log::ShellLog;

#[derive(Debug)]
pub(super) struct AgentShell {
    shell: Option<ShellSession>,
    limits: Limits,
    cwd: Option<String>,
    /// Takes all that it prints.
    log: ShellLog,
    /// From the start of the command that runs: how long the agent wanted to wait for it.
    waited: Duration,
    /// Bytes that earlier shells did not keep.
    dropped: u64,
}

/// What is asked of the shell, and how long that may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) command: &'a str,
    pub(super) input: bool,
    /// From the start of the command; then it is killed.
    pub(super) timeout: Option<Duration>,
    /// In place of the quiet time: then it is left running.
    pub(super) wait: Option<Duration>,
    /// Of the turn; a command is killed with it.
    pub(super) deadline: Instant,
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
        let small = usize::try_from(limits.view.0).unwrap_or(usize::MAX);
        Self {
            shell: None,
            log: ShellLog::new(log, small),
            limits,
            cwd,
            waited: Duration::ZERO,
            dropped: 0,
        }
    }

    /// Bytes of output that were not kept.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped + self.shell.as_ref().map_or(0, ShellSession::dropped)
    }

    pub(super) async fn run(
        &mut self,
        sandbox: &dyn Sandbox,
        asked: Asked<'_>,
    ) -> Result<Observation, Trouble> {
        let last = asked.deadline + GRACE;
        let shell = match self.shell.take() {
            Some(shell) => shell,
            None => match timeout_at(last, ShellSession::open(sandbox, self.options())).await {
                Ok(opened) => opened?,
                Err(_) => return Ok(Observation::error("no shell has opened in time")),
            },
        };
        let shell = self.shell.insert(shell);
        let before = match shell.running_for() {
            Some(before) => before,
            None => {
                self.waited = Duration::ZERO;
                Duration::ZERO
            }
        };
        let left = asked.deadline.saturating_duration_since(Instant::now());
        let wait = asked.wait.map(|wait| wait.min(left));
        // Who waits for a command must not kill it by that: its limit begins where the wait ends.
        self.waited = self.waited.max(before + wait.unwrap_or_default());
        let allowed = self.limits.command.duration().saturating_add(self.waited);
        let timeouts = Timeouts {
            hard: asked
                .timeout
                .map_or(allowed, |asked| asked.min(allowed))
                .min(before + left),
            quiet: self.limits.quiet.duration(),
            wait,
            patience: self.limits.patience.map(Seconds::duration),
        };
        let command = asked.command;
        let result = timeout_at(last, async {
            match Meaning::of(command, asked.input) {
                Meaning::Key => shell.send_key(sandbox, command.trim(), timeouts).await,
                Meaning::Line => shell.send_input(sandbox, command, timeouts).await,
                Meaning::More => shell.wait(sandbox, timeouts).await,
                Meaning::Command => shell.run(sandbox, command, timeouts).await,
            }
        });
        match result.await {
            Ok(result) => self.shown(result?, timeouts),
            Err(_) => {
                self.dropped = self.dropped();
                self.shell = None;
                Ok(Observation::error("the shell hangs and was ended"))
            }
        }
    }

    fn options(&self) -> SessionOptions {
        let limits = &self.limits;
        let sink = self.log.clone();
        let mut options = SessionOptions::new(Box::new(move |bytes: &[u8]| sink.write(bytes)));
        options.view = limits.view.0;
        options.output = limits.output.0;
        options.start = limits.start.duration();
        // A pager waits for somebody to press a key.
        let pagers = ["PAGER", "GIT_PAGER"].map(|name| (name.to_owned(), "cat".to_owned()));
        options.env.extend(pagers);
        if let Some(cwd) = &self.cwd {
            options.cwd.clone_from(cwd);
        }
        options
    }

    fn shown(&self, result: CommandResult, timeouts: Timeouts) -> Result<Observation, Trouble> {
        let head = usize::try_from(self.limits.view.0.div_ceil(2)).unwrap_or(usize::MAX);
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
            let kept = self.log.keep();
            kept.map_err(|error| Trouble::Fault(evidence_lost(&error)))?;
        }
        if result.timed_out {
            text += &format!("\n[killed after {} s]", timeouts.hard.as_secs_f64());
        }
        if result.restarted {
            text += "\n[the shell was started anew in its first folder]";
        }
        if let Some(left) = result.left {
            text += &format!(
                "\n[still running, {}: send an empty command to wait on (with `wait` for longer), a \
                 line with `input: true` to answer it, or C-c with `input: true` to interrupt it]",
                why(left, timeouts)
            );
        }
        let mut seen = Observation::new(ObservationKind::Output, text);
        seen.exit_status = result.exit;
        seen.running = result.running;
        seen.cwd = Some(result.cwd);
        seen.omitted = result.output.omitted;
        Ok(seen)
    }
}

fn why(left: Left, timeouts: Timeouts) -> String {
    match left {
        Left::Silent => format!("without new output for {} s", timeouts.quiet.as_secs_f64()),
        Left::Late => {
            let waited = timeouts.wait.or(timeouts.patience).unwrap_or_default();
            format!("not done after {} s of waiting", waited.as_secs_f64())
        }
    }
}

/// `C-c` and the like.
fn is_control_key(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('C') && chars.next() == Some('-') && chars.clone().count() == 1
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
