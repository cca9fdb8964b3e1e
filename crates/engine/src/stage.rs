//! Carries out the agent's actions in its environment and says what can be seen. Knows sandboxes and
//! the scripted user; does not know agents, limits of the turn or grading.

use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Action, Fault, FaultClass, Limits, Observation, Task};
use agon_sandbox::session::{CommandResult, SessionOptions, ShellSession, Timeouts};
use agon_sandbox::{Sandbox, SandboxError};
use agon_store::Recorder;
use tokio::time::Instant;

use crate::apps::Apps;
use crate::attempt::{Attempt, evidence_lost};
use crate::eyes::Eyes;
use crate::seen::Seen;
use crate::shell_log::ShellLog;

/// Largest file that `read` shows and `edit` changes.
const READABLE: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Stage<'a> {
    sandbox: Option<&'a dyn Sandbox>,
    /// Where there is a screen.
    eyes: Option<Eyes>,
    limits: &'a Limits,
    /// The task's programs, where checks may ask for them.
    apps: Option<&'a Apps>,
    replies: std::slice::Iter<'a, String>,
    shell: Option<(ShellSession, ShellLog)>,
}

/// Why an action can't be answered.
#[derive(Debug)]
pub(crate) enum Gone {
    /// The agent exhausted its environment.
    BroughtDown,
    /// The agent ended the X server of its own desktop.
    ScreenLost(String),
    Fault(Fault),
}

impl From<SandboxError> for Gone {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::OutOfMemory => Self::BroughtDown,
            error => Self::Fault(crate::trial::fault_of(&error)),
        }
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        sandbox: Option<&'a dyn Sandbox>,
        eyes: Option<Eyes>,
        apps: &'a Apps,
        task: &'a Task,
    ) -> Self {
        let replies = task.replies.on_host().iter();
        Self {
            sandbox,
            eyes,
            limits: &task.limits,
            apps: task.asks_for_sight().then_some(apps),
            replies,
            shell: None,
        }
    }

    /// What the agent sees before it does anything.
    pub(crate) async fn first_sight(
        &mut self,
        recorder: &mut Recorder,
    ) -> Result<Observation, Gone> {
        match &mut self.eyes {
            Some(eyes) => match eyes.first(recorder).await {
                Ok(seen) => Ok(seen),
                Err(gone) => Err(whose(gone, self.sandbox).await),
            },
            None => Ok(Observation::ready("")),
        }
    }

    /// The screen as the agent leaves it. One that is gone is no longer there to be seen.
    pub(crate) async fn last_sight(&mut self, recorder: &mut Recorder) -> Result<(), Fault> {
        let apps = self.apps.map(Apps::states);
        match &mut self.eyes {
            Some(eyes) => match eyes.last(apps, recorder).await {
                Ok(()) => Ok(()),
                Err(gone) => match whose(gone, self.sandbox).await {
                    Gone::Fault(fault) => Err(fault),
                    Gone::BroughtDown | Gone::ScreenLost(_) => Ok(()),
                },
            },
            None => Ok(()),
        }
    }

    /// Nobody holds a key of the screen any more.
    pub(crate) async fn let_go(&mut self, recorder: &mut Recorder) -> Result<(), Gone> {
        match &mut self.eyes {
            Some(eyes) => match eyes.let_go(recorder).await {
                Ok(()) => Ok(()),
                Err(gone) => Err(whose(gone, self.sandbox).await),
            },
            None => Ok(()),
        }
    }

    /// `cause` is the event that holds the action.
    pub(crate) async fn perform(
        &mut self,
        action: &Action,
        deadline: Instant,
        cause: u64,
        recorder: &mut Recorder,
    ) -> Result<Observation, Gone> {
        let left = deadline.saturating_duration_since(Instant::now());
        match action {
            Action::Think { .. } | Action::Finish { .. } => Ok(Observation::done()),
            Action::Message { .. } => Ok(match self.replies.next() {
                Some(reply) => Observation::new(ObservationKind::Reply, reply),
                None => Observation::done(),
            }),
            Action::Wait { seconds } => {
                tokio::time::sleep(seconds.duration().min(left)).await;
                if self.eyes.is_none() {
                    return Ok(Observation::done());
                }
                self.on_screen(action, deadline, cause, recorder).await
            }
            Action::Run {
                command,
                input,
                timeout,
            } => {
                let hard = timeout.map_or(self.limits.command.duration(), |asked| {
                    asked.duration().min(self.limits.command.duration())
                });
                let timeouts = Timeouts {
                    hard: hard.min(left),
                    quiet: self.limits.quiet.duration(),
                };
                self.run(command, *input, timeouts, recorder).await
            }
            Action::Read { path } => answered(
                self.in_time(left, read(self.sandbox, path, self.limits))
                    .await,
            ),
            Action::Write { path, content } => {
                answered(self.in_time(left, write(self.sandbox, path, content)).await)
            }
            Action::Edit { path, old, new } => {
                answered(self.in_time(left, edit(self.sandbox, path, old, new)).await)
            }
            Action::Cell { .. } => Ok(Observation::error("there is no `cell` here")),
            action => self.on_screen(action, deadline, cause, recorder).await,
        }
    }

    async fn on_screen(
        &mut self,
        action: &Action,
        deadline: Instant,
        cause: u64,
        recorder: &mut Recorder,
    ) -> Result<Observation, Gone> {
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(eyes) = &mut self.eyes else {
            let none = format!("there is no screen here for `{}`", action.kind());
            return Ok(Observation::error(none));
        };
        match eyes.perform(action, left, cause, recorder).await {
            Ok(seen) => Ok(seen),
            Err(gone) => Err(whose(gone, self.sandbox).await),
        }
    }

    /// A file action that takes too long is answered as an error: what is slow there is the agent's.
    fn in_time(
        &self,
        left: Duration,
        work: impl Future<Output = Result<Observation, SandboxError>>,
    ) -> impl Future<Output = Result<Observation, SandboxError>> {
        let most = self.limits.command.duration().min(left);
        async move {
            let late = format!("took longer than {} s", most.as_secs_f64());
            tokio::time::timeout(most, work)
                .await
                .unwrap_or(Err(SandboxError::Denied(late)))
        }
    }

    async fn run(
        &mut self,
        command: &str,
        input: bool,
        timeouts: Timeouts,
        recorder: &mut Recorder,
    ) -> Result<Observation, Gone> {
        let sandbox = match some(self.sandbox) {
            Ok(sandbox) => sandbox,
            Err(error) => return answered(Err(error)),
        };
        let limits = self.limits;
        if self.shell.is_none() {
            match open_shell(sandbox, limits, recorder).await {
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
            Ok(result) => shown(result, limits, timeouts.hard, log),
            // There was a shell before: the agent ended it and keeps a new one from starting.
            Err(error @ (SandboxError::Missing(_) | SandboxError::Timeout { .. })) => {
                Ok(Observation::error(format!("there is no shell: {error}")))
            }
            Err(error) => answered(Err(error)),
        }
    }

    /// The agent's turn is over: says what was not kept, and what was seen.
    pub(crate) fn close(self, attempt: &mut Attempt) -> Result<Seen, Fault> {
        let dropped = self.shell.as_ref().map_or(0, |(shell, _)| shell.dropped());
        if dropped > 0 {
            let note = format!("{dropped} bytes of shell output over the limit were not kept");
            let body = agon_core::EventBody::Note(note);
            attempt.record(agon_core::Source::Harness, None, body)?;
        }
        Ok(self.eyes.map(Eyes::seen).unwrap_or_default())
    }
}

async fn open_shell(
    sandbox: &dyn Sandbox,
    limits: &Limits,
    recorder: &Recorder,
) -> Result<(ShellSession, ShellLog), SandboxError> {
    let small = usize::try_from(limits.view.0).unwrap_or(usize::MAX);
    let log = ShellLog::new(recorder.folder().join("logs").join("shell.log"), small);
    let sink = log.clone();
    let mut options = SessionOptions::new(Box::new(move |bytes: &[u8]| sink.write(bytes)));
    options.view = limits.view.0;
    options.output = limits.output.0;
    options.start = limits.start.duration();
    Ok((ShellSession::open(sandbox, options).await?, log))
}

/// A screen that was lost with its whole environment was not lost by the agent.
pub(crate) async fn whose(gone: Gone, sandbox: Option<&dyn Sandbox>) -> Gone {
    match (gone, sandbox) {
        (Gone::ScreenLost(why), Some(sandbox)) => match sandbox.remains().await {
            Ok(()) => Gone::ScreenLost(why),
            Err(error) => error.into(),
        },
        (gone, _) => gone,
    }
}

/// The sandbox, where the environment has one.
fn some(sandbox: Option<&dyn Sandbox>) -> Result<&dyn Sandbox, SandboxError> {
    sandbox.ok_or_else(|| {
        SandboxError::Denied("there is no environment to act in, only a conversation".to_owned())
    })
}

async fn read(
    sandbox: Option<&dyn Sandbox>,
    path: &str,
    limits: &Limits,
) -> Result<Observation, SandboxError> {
    let content = some(sandbox)?.read(path, READABLE).await?;
    let view = usize::try_from(limits.view.0).unwrap_or(usize::MAX);
    let shown = &content[..content.len().min(view)];
    let text = String::from_utf8_lossy(shown);
    let mut seen = Observation::new(ObservationKind::Content, text);
    seen.omitted = (content.len() - shown.len()) as u64;
    Ok(seen)
}

async fn write(
    sandbox: Option<&dyn Sandbox>,
    path: &str,
    content: &str,
) -> Result<Observation, SandboxError> {
    some(sandbox)?.write(path, content.as_bytes()).await?;
    Ok(Observation::done())
}

async fn edit(
    sandbox: Option<&dyn Sandbox>,
    path: &str,
    old: &str,
    new: &str,
) -> Result<Observation, SandboxError> {
    let sandbox = some(sandbox)?;
    let content = sandbox.read(path, READABLE).await?;
    let denied = |why: String| Err(SandboxError::Denied(why));
    if content.len() as u64 >= READABLE {
        return denied(format!("{path} is too large to edit: use commands"));
    }
    let Ok(text) = String::from_utf8(content) else {
        return denied(format!("{path} is no text"));
    };
    match text.matches(old).take(2).count() {
        _ if old.is_empty() => denied("`old` is empty: say what to replace".to_owned()),
        0 => denied(format!("`old` does not occur in {path}")),
        1 => {
            sandbox
                .write(path, text.replacen(old, new, 1).as_bytes())
                .await?;
            Ok(Observation::done())
        }
        _ => denied(format!(
            "`old` occurs more than once in {path}: make it longer"
        )),
    }
}

/// `C-c` and the like.
fn is_control_key(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('C') && chars.next() == Some('-') && chars.clone().count() == 1
}

/// What the agent did wrong is an answer for it; the rest is not.
fn answered(result: Result<Observation, SandboxError>) -> Result<Observation, Gone> {
    match result {
        Ok(seen) => Ok(seen),
        Err(SandboxError::Denied(why)) => Ok(Observation::error(why)),
        Err(error) => Err(error.into()),
    }
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
