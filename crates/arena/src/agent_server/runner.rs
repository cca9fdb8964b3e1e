//! What plays tasks for a server, in this process or in another: one small contract, so that the
//! server needs not know which.

use std::sync::Arc;

use agon_agent::play::{Cause, PlayEnd, Stop, Task};
use agon_core::PlayStats;

use crate::result::StopReason;
use crate::wire::AgentFinished;

/// Plays one task at a time.
pub(crate) trait Runner: Send + Sync + 'static {
    /// Plays a task to its end, on the thread of who calls. `steps_over` is called as soon as the last
    /// step is done and only hooks are still to run.
    fn play(&self, task: &Task, stop: &Stop, steps_over: StepsOver) -> Outcome;

    /// Gives up on the play that this stop belongs to, and which it has been asked for: no key of it is
    /// seen any more. `play` returns at once if another agent can be made, else when this one does. An
    /// agent that plays nothing is made anew as well, if it can be.
    fn abandon(&self, stop: &Stop);
}

/// Whether both are the stop of the same play.
pub(crate) fn is_same(one: &Stop, other: &Stop) -> bool {
    Arc::ptr_eq(one.signal(), other.signal())
}

pub(crate) type StepsOver = Box<dyn Fn(&Outcome) + Send + Sync>;

/// How a play ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) stats: Option<PlayStats>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Finished,
    Stopped(Cause),
    /// The agent's code failed or panicked, or could not be begun.
    Failed(String),
    /// Its process is gone.
    Lost(String),
}

/// Longer complaints are cut.
const LONGEST_ERROR: usize = 4000;

impl Outcome {
    pub(crate) fn of(end: End) -> Self {
        Self { end, stats: None }
    }

    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Self::of(End::Failed(error.into()))
    }

    /// What the evaluator is told.
    pub(crate) fn told(&self, task_id: &str) -> AgentFinished {
        let (reason, error) = match &self.end {
            End::Finished => (Some(StopReason::Finished), None),
            End::Stopped(Cause::Operator) => (Some(StopReason::Operator), None),
            End::Stopped(Cause::Timeout) => (Some(StopReason::Timeout), None),
            End::Stopped(_) => (None, None),
            End::Failed(error) => (Some(StopReason::AgentError), Some(error)),
            End::Lost(error) => (Some(StopReason::AgentLost), Some(error)),
        };
        AgentFinished {
            task_id: Some(task_id.to_owned()),
            reason,
            error: error.map(|error| error.chars().take(LONGEST_ERROR).collect()),
            stats: self.stats.clone(),
        }
    }
}

impl From<PlayEnd> for End {
    fn from(end: PlayEnd) -> Self {
        match end {
            PlayEnd::Finished => Self::Finished,
            PlayEnd::Stopped(cause) => Self::Stopped(cause),
            PlayEnd::Failed(error) | PlayEnd::ScreenLost(error) | PlayEnd::Broken(error) => {
                Self::Failed(error)
            }
            PlayEnd::Panicked(words) => Self::Failed(format!("the agent panicked: {words}")),
        }
    }
}
