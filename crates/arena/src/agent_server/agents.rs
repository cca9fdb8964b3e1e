//! Agents in this process: the one that was given, or as many as are needed of those that can be made.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_agent::play::{self, PlayConfig, PlayEnd, Played, Player, Playing, Stop, Task};

use super::announcing::Listener;
use super::runner::{End, Outcome, StepsOver, is_same};

type Make = Box<dyn Fn() -> Box<dyn Player> + Send + Sync>;

/// Plays one task at a time with an agent that is kept from task to task.
pub(crate) struct Agents {
    make: Option<Make>,
    /// The one that plays next.
    idle: Mutex<Option<Box<dyn Player>>>,
    listener: Listener,
    /// To the play that is under way.
    live: Mutex<Option<(Stop, Sender<Signal>)>>,
}

enum Signal {
    Over,
    Abandon,
}

impl Agents {
    pub(crate) fn made_by(make: impl Fn() -> Box<dyn Player> + Send + Sync + 'static) -> Self {
        Self::new(Some(Box::new(make)), None)
    }

    /// There is only this one: stuck, it is waited for.
    pub(crate) fn only(agent: Box<dyn Player>) -> Self {
        Self::new(None, Some(agent))
    }

    fn new(make: Option<Make>, agent: Option<Box<dyn Player>>) -> Self {
        let listener = Listener::default();
        let agent = agent.map(|agent| listener.listen_to(agent));
        Self {
            make,
            idle: Mutex::new(agent),
            listener,
            live: Mutex::new(None),
        }
    }

    pub(crate) fn play(
        &self,
        config: &PlayConfig,
        task: &Task,
        stop: &Stop,
        steps_over: StepsOver,
    ) -> Outcome {
        let (tell, told) = channel();
        *lock(&self.live) = Some((stop.clone(), tell.clone()));
        let outcome = self.play_until(config, task, stop, steps_over, (tell, &told));
        *lock(&self.live) = None;
        outcome
    }

    fn play_until(
        &self,
        config: &PlayConfig,
        task: &Task,
        stop: &Stop,
        steps_over: StepsOver,
        (tell, told): (Sender<Signal>, &Receiver<Signal>),
    ) -> Outcome {
        let agent = match self.take() {
            Ok(agent) => agent,
            Err(error) => return Outcome::failed(error),
        };
        let prepared = match play::prepare(config, stop.clone()) {
            Ok(prepared) => prepared,
            Err(error) => {
                self.give_back(agent);
                return Outcome::failed(error.to_string());
            }
        };
        self.listener.begin(stop.clone(), steps_over);
        let playing = prepared.play(agent, task.clone());
        playing.on_end(move || drop(tell.send(Signal::Over)));
        let played = self.wait(&playing, told);
        self.listener.end();
        let Played { end, stats, player } = played;
        // One that panicked may be half of what it was.
        let whole = !matches!(end, PlayEnd::Panicked(_)) || self.make.is_none();
        if let Some(agent) = player.filter(|_| whole) {
            self.give_back(agent);
        }
        Outcome {
            end: End::from(end),
            stats: Some(stats),
        }
    }

    fn wait(&self, playing: &Playing, told: &Receiver<Signal>) -> Played {
        loop {
            match told.recv() {
                Ok(Signal::Over) | Err(_) => {
                    let played = playing.wait(std::time::Duration::ZERO);
                    return played.unwrap_or_else(|| playing.abandon());
                }
                Ok(Signal::Abandon) if self.make.is_some() => return playing.abandon(),
                Ok(Signal::Abandon) => playing.cut(),
            }
        }
    }

    /// See [`super::Runner::abandon`].
    pub(crate) fn abandon(&self, stop: &Stop) {
        if let Some((played, live)) = &*lock(&self.live)
            && is_same(played, stop)
        {
            // Not taken is over.
            let _ = live.send(Signal::Abandon);
        }
        if self.make.is_some() {
            let idle = lock(&self.idle).take();
            drop(idle);
        }
    }

    fn take(&self) -> Result<Box<dyn Player>, String> {
        if let Some(agent) = lock(&self.idle).take() {
            return Ok(agent);
        }
        let Some(make) = &self.make else {
            return Err("the agent did not come back from its last task".to_owned());
        };
        catch_unwind(AssertUnwindSafe(make))
            .map(|agent| self.listener.listen_to(agent))
            .map_err(|_| "the agent panicked while it was made".to_owned())
    }

    fn give_back(&self, agent: Box<dyn Player>) {
        *lock(&self.idle) = Some(agent);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
