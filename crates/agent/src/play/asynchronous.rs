//! Players that are written as asynchronous code. What they wait for is dropped at the stop, and so is
//! all else that they have begun.

use agon_desktop::DesktopError;
use async_trait::async_trait;
use tokio::runtime::{Builder, Runtime};

use super::context::Play;
use super::contract::{Flow, PlayError, Player};
use super::stop::StopEvent;
use super::task::Task;

/// As [`Player`]. The functions of [`Play`] are short, but for those that wait, and block like plain
/// code: what takes longer is to be awaited.
#[async_trait]
pub trait AsyncPlayer: Send {
    async fn init_task(&mut self, _task: &Task, _play: &mut Play) -> Result<(), PlayError> {
        Ok(())
    }

    async fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow;

    async fn finish_task(&mut self, _task: &Task) {}

    fn stop_event(&self) -> Option<StopEvent> {
        None
    }
}

/// Makes a [`Player`] of one. Every play has a runtime of its own, so nothing that was spawned in one is
/// there in the next.
#[derive(Debug)]
pub struct Asynchronous<A> {
    agent: A,
    runtime: Option<Runtime>,
}

impl<A: AsyncPlayer> Asynchronous<A> {
    pub const fn new(agent: A) -> Self {
        Self {
            agent,
            runtime: None,
        }
    }

    /// Runs until it is done or the play is stopped.
    fn until_stopped<'a, T>(
        &'a mut self,
        play: &'a mut Play,
        work: impl AsyncFnOnce(&'a mut A, &'a mut Play) -> T,
    ) -> Result<T, PlayError> {
        let stopped = play.cancelled().clone();
        if self.runtime.is_none() {
            let made = Builder::new_current_thread().enable_all().build();
            let made = made.map_err(DesktopError::io("can't make an asynchronous runtime"))?;
            self.runtime = Some(made);
        }
        let Some(runtime) = &self.runtime else {
            return Err(PlayError::Stopped);
        };
        let agent = &mut self.agent;
        runtime
            .block_on(stopped.run_until_cancelled_owned(work(agent, play)))
            .ok_or(PlayError::Stopped)
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // It may be asynchronous code that drops us, which must not wait.
            runtime.shutdown_background();
        }
    }
}

impl<A: AsyncPlayer> Player for Asynchronous<A> {
    fn init_task(&mut self, task: &Task, play: &mut Play) -> Result<(), PlayError> {
        self.until_stopped(play, async |agent, play| agent.init_task(task, play).await)?
    }

    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow {
        self.until_stopped(play, async |agent, play| agent.play_env(task, play).await)
            .unwrap_or_else(Flow::Fail)
    }

    fn finish_task(&mut self, task: &Task) {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(self.agent.finish_task(task));
        }
        self.end();
    }

    fn stop_event(&self) -> Option<StopEvent> {
        self.agent.stop_event()
    }
}
