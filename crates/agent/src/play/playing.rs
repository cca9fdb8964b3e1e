//! A play that is under way, as whoever started it sees it, and what came of it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_core::realtime::PlayStats;
use agon_desktop::DesktopError;

use super::contract::{PlayError, Player};
use super::core::Core;
use super::stats::Answer;
use super::stop::{Cause, Stop};

/// How a play ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayEnd {
    /// The player said so.
    Finished,
    Stopped(Cause),
    /// The player could not go on, by its own doing.
    Failed(String),
    Panicked(String),
    /// The desktop is gone, or does not answer.
    ScreenLost(String),
    /// What a play needs failed on our side: the world could not be stopped or let go, say.
    Broken(String),
}

impl From<PlayError> for PlayEnd {
    fn from(error: PlayError) -> Self {
        let words = error.to_string();
        match error {
            PlayError::Stopped => Self::Stopped(Cause::Asked),
            PlayError::World(_) => Self::Broken(words),
            PlayError::Desktop(DesktopError::Gone(_) | DesktopError::Io { .. }) => {
                Self::ScreenLost(words)
            }
            PlayError::Desktop(DesktopError::Missing(_) | DesktopError::Start(_)) => {
                Self::Broken(words)
            }
            // What it asked for makes no sense, or did not come in time.
            PlayError::Desktop(_) | PlayError::Agent(_) => Self::Failed(words),
        }
    }
}

pub struct Played {
    pub end: PlayEnd,
    pub stats: PlayStats,
    /// For the next task; `None` when it never came back.
    pub player: Option<Box<dyn Player>>,
}

impl fmt::Debug for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Played")
            .field("end", &self.end)
            .field("stats", &self.stats)
            .field("player", &self.player.is_some())
            .finish()
    }
}

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    over: bool,
    abandoned: bool,
    played: Option<Played>,
    callbacks: Vec<Callback>,
}

/// Where the play leaves its end for whoever waits.
#[derive(Default)]
pub(super) struct Outcome {
    state: Mutex<State>,
    news: Condvar,
}

impl Outcome {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().over
    }

    pub(super) fn set(&self, played: Played) {
        let callbacks = {
            let mut state = self.state();
            state.over = true;
            if !state.abandoned {
                state.played = Some(played);
            }
            std::mem::take(&mut state.callbacks)
        };
        self.news.notify_all();
        for callback in callbacks {
            // One that panics takes nothing from the others.
            let _ = catch_unwind(AssertUnwindSafe(callback));
        }
    }
}

/// Dropped before its end, it tells the play to stop.
pub struct Playing {
    core: Arc<Core>,
    outcome: Arc<Outcome>,
}

impl fmt::Debug for Playing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Playing")
            .field("over", &self.is_over())
            .field("cut", &self.is_cut())
            .finish()
    }
}

impl Playing {
    pub(super) fn new(core: Arc<Core>, outcome: Arc<Outcome>) -> Self {
        Self { core, outcome }
    }

    pub fn stop(&self) -> &Stop {
        &self.core.stop
    }

    /// Releases all keys, then hangs up: no key event of the player comes after this. The stop does it
    /// by itself within a few milliseconds. Who was not told to stop before is by this.
    pub fn cut(&self) {
        self.stop().ask(Cause::Asked);
        self.core.cut();
    }

    /// Whether the player can't press keys any more, be it still running or not.
    pub fn is_cut(&self) -> bool {
        self.core.is_cut()
    }

    /// Whether the player has come back for good.
    pub fn is_over(&self) -> bool {
        self.outcome.is_over()
    }

    /// What is known so far.
    pub fn stats(&self) -> PlayStats {
        self.core.stats()
    }

    /// The answers since this was asked last, as far as so many are kept.
    pub fn answers(&self) -> Vec<Answer> {
        self.core.tally().take_answers()
    }

    /// Waits for the end. `None`: still running, or given out before.
    pub fn wait(&self, within: Duration) -> Option<Played> {
        let began = Instant::now();
        let mut state = self.outcome.state();
        loop {
            let left = within.saturating_sub(began.elapsed());
            if state.over || left.is_zero() {
                return state.played.take();
            }
            let waited = self.outcome.news.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Leaves a player behind that does not come back: its keyboard is dead, and when it does come back
    /// it is dropped. One that is over after all is not left behind.
    pub fn abandon(&self) -> Played {
        self.cut();
        let mut state = self.outcome.state();
        state.abandoned = true;
        state.played.take().unwrap_or_else(|| Played {
            end: PlayEnd::Stopped(self.stop().cause().unwrap_or(Cause::Asked)),
            stats: self.core.stats(),
            player: None,
        })
    }

    /// Calls back when the play is over, at once if it is; from a thread of the play.
    pub fn on_end(&self, callback: impl FnOnce() + Send + 'static) {
        let mut state = self.outcome.state();
        if !state.over {
            state.callbacks.push(Box::new(callback));
            return;
        }
        drop(state);
        callback();
    }

    /// Comes back when the play is over.
    pub async fn over(&self) {
        let (tell, told) = tokio::sync::oneshot::channel();
        self.on_end(move || {
            // Who does not wait any more need not be told.
            let _ = tell.send(());
        });
        // Not told is over as well.
        let _ = told.await;
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        if !self.is_over() {
            self.stop().ask(Cause::Asked);
        }
    }
}
