//! The contract of an agent that plays in real time. Whoever implements it writes plain blocking code.

use agon_desktop::DesktopError;

use super::Play;
use super::stop::StopEvent;
use super::task::Task;

/// Called over and over, one step at a time, by a thread of its own.
pub trait Player: Send {
    /// Before the first step of a task.
    fn init_task(&mut self, _task: &Task, _play: &mut Play) -> Result<(), PlayError> {
        Ok(())
    }

    /// One step: look, decide, act.
    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow;

    /// After the last step, whatever ended the play. The keyboard is out of reach by then.
    fn finish_task(&mut self, _task: &Task) {}

    /// A switch of its own by which the agent lets its operator end the play.
    fn stop_event(&self) -> Option<StopEvent> {
        None
    }
}

/// Whether there is to be another step.
#[derive(Debug)]
pub enum Flow {
    Continue,
    /// The agent thinks that the task is done.
    Finish,
    /// The agent can't go on.
    Fail(PlayError),
}

impl Flow {
    /// Runs a step in which `?` may be used.
    pub fn of(step: impl FnOnce() -> Result<Self, PlayError>) -> Self {
        step().unwrap_or_else(Self::Fail)
    }
}

/// Why something could not be done while playing.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The play is over: no key is pressed any more. Not an error of the agent.
    #[error("the play was stopped")]
    Stopped,
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    /// The world could not be stopped or let go.
    #[error("{0}")]
    World(String),
    /// The agent's own.
    #[error("{0}")]
    Agent(String),
}
