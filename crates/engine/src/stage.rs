//! Carries out the agent's actions in its environment and says what can be seen. Knows sandboxes and
//! the user; does not know agents, limits of the turn or grading.

use std::time::Duration;

use agon_agent::user::{Heard, Reply, Respondent, UserError};
use agon_core::observation::ObservationKind;
use agon_core::verdict::TurnEnd;
use agon_core::{Action, EventBody, Fault, FaultClass, Observation, Source, Task};
use agon_sandbox::{Sandbox, SandboxError};
use agon_store::Recorder;
use tokio::time::{Instant, timeout};

use crate::apps::Apps;
use crate::attempt::{Attempt, evidence_lost};
use crate::eyes::Eyes;
use crate::seen::Seen;
use crate::so_far::SoFar;
use crate::workbench::Workbench;

#[derive(Debug)]
pub(crate) struct Stage<'a> {
    sandbox: Option<&'a dyn Sandbox>,
    /// Where there is a screen.
    eyes: Option<Eyes>,
    /// The task's programs, where checks may ask for them.
    apps: Option<&'a Apps>,
    user: Box<dyn Respondent>,
    /// For a user to answer, unless it says otherwise.
    patience: Duration,
    so_far: SoFar,
    workbench: &'a mut Workbench,
}

/// Why an action can't be answered.
#[derive(Debug)]
pub enum Gone {
    /// The user has heard enough: the agent's turn is over.
    UserLeft,
    /// There is nothing left to pay the user's model with: `TokenLimit` or `MoneyLimit`.
    Spent(TurnEnd),
    /// The agent exhausted its environment.
    BroughtDown,
    /// The agent ended the X server of its own desktop.
    ScreenLost(String),
    Fault(Fault),
}

impl From<SandboxError> for Gone {
    fn from(error: SandboxError) -> Self {
        match error.of_agent() {
            true => Self::BroughtDown,
            false => Self::Fault(crate::trial::fault_of(&error)),
        }
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(
        sandbox: Option<&'a dyn Sandbox>,
        eyes: Option<Eyes>,
        apps: &'a Apps,
        task: &Task,
        user: Box<dyn Respondent>,
        workbench: &'a mut Workbench,
    ) -> Self {
        Self {
            sandbox,
            eyes,
            apps: task.asks_for_sight().then_some(apps),
            user,
            patience: task.limits.step.duration(),
            so_far: SoFar::default(),
            workbench,
        }
    }

    /// What a user who looks back gets to know.
    pub(crate) fn remember(&mut self, so_far: &SoFar) {
        self.so_far = so_far.clone();
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
                    Gone::UserLeft | Gone::Spent(_) | Gone::BroughtDown | Gone::ScreenLost(_) => {
                        Ok(())
                    }
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
            Action::Think { .. } | Action::Finish { .. } | Action::Reject { .. } => {
                Ok(Observation::done())
            }
            Action::Message { text } => self.hear(text, cause, recorder).await,
            Action::Wait { seconds } => {
                tokio::time::sleep(seconds.duration().min(left)).await;
                if self.eyes.is_none() {
                    return Ok(Observation::done());
                }
                self.on_screen(action, deadline, cause, recorder).await
            }
            Action::Run { .. }
            | Action::Cell { .. }
            | Action::Browse { .. }
            | Action::Read { .. }
            | Action::Write { .. }
            | Action::Edit { .. }
            | Action::Insert { .. }
            | Action::Undo { .. } => match self.sandbox {
                Some(sandbox) => self.workbench.perform(sandbox, action, deadline).await,
                None => Ok(Observation::error(
                    "there is no environment to act in, only a conversation",
                )),
            },
            action => self.on_screen(action, deadline, cause, recorder).await,
        }
    }

    /// Tells the user something. One who does not answer is not the agent's doing.
    async fn hear(
        &mut self,
        message: &str,
        cause: u64,
        recorder: &mut Recorder,
    ) -> Result<Observation, Gone> {
        let most = self.user.takes().unwrap_or(self.patience);
        let heard = Heard {
            message,
            so_far: &self.so_far.events(),
        };
        let reply = timeout(most, self.user.reply(heard)).await;
        if let Some(remark) = self.user.remark() {
            recorder
                .record(Source::User, Some(cause), EventBody::Note(remark))
                .map_err(|error| Gone::Fault(evidence_lost(&error)))?;
        }
        let fault = |class, error| Err(Gone::Fault(Fault::new(class, error)));
        match reply {
            Ok(Ok(Reply::Words(words))) => Ok(Observation::new(ObservationKind::Reply, words)),
            Ok(Ok(Reply::Nothing)) => Ok(Observation::done()),
            Ok(Ok(Reply::Exit)) => Err(Gone::UserLeft),
            Ok(Err(UserError::Spent(end))) => Err(Gone::Spent(end)),
            Ok(Err(error @ (UserError::Setup(_) | UserError::Nobody(_)))) => {
                fault(FaultClass::ModelSetup, error.to_string())
            }
            Ok(Err(error)) => fault(FaultClass::Model, error.to_string()),
            Err(_) => {
                let late = format!("the user gave no answer for {} s", most.as_secs_f64());
                fault(FaultClass::Timeout, late)
            }
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
        self.workbench.note_use();
        let Some(eyes) = &mut self.eyes else {
            let none = format!("there is no screen here for `{}`", action.kind());
            return Ok(Observation::error(none));
        };
        match eyes.perform(action, left, cause, recorder).await {
            Ok(seen) => Ok(seen),
            Err(gone) => Err(whose(gone, self.sandbox).await),
        }
    }

    /// The agent's turn is over: says what was not kept, and what was seen.
    pub(crate) fn close(self, attempt: &mut Attempt) -> Result<Seen, Fault> {
        let dropped = self.workbench.dropped();
        if dropped > 0 {
            let note = format!("{dropped} bytes of shell output over the limit were not kept");
            attempt.record(Source::Harness, None, EventBody::Note(note))?;
        }
        Ok(self.eyes.map(Eyes::seen).unwrap_or_default())
    }
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
