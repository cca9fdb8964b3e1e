//! Stops the world and lets it go, keeps its time, and holds it for good when the play is to end: nothing
//! in it counts on between the end and the last picture. Whoever plays only asks.

use std::sync::{Mutex as Lock, MutexGuard, PoisonError};
use std::time::Duration;

use agon_agent::play::Stop;
use agon_core::Fault;
use agon_core::verdict::TurnEnd;
use agon_sandbox::{Sandbox, SandboxError};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::play::stopped;
use crate::attempt::Attempt;
use crate::ends::ended_by_loss;
use crate::stage::Gone;

#[derive(Debug)]
pub(super) struct Brake<'a> {
    sandbox: &'a dyn Sandbox,
    stop: Stop,
    /// One after the other.
    pedal: Mutex<()>,
    time: Lock<Time>,
}

/// The time of a world: what has gone by while it ran.
#[derive(Debug, Clone, Copy)]
struct Time {
    began: Instant,
    hidden: Duration,
    standing: Option<Instant>,
}

/// Why the world does not stop or go.
#[derive(Debug)]
pub(super) enum Trouble {
    /// What runs in it does not stand still.
    Restless(String),
    Gone(Gone),
}

impl<'a> Brake<'a> {
    /// Of a world that has `began`.
    pub(super) fn new(sandbox: &'a dyn Sandbox, stop: &Stop, began: Instant) -> Self {
        Self {
            sandbox,
            stop: stop.clone(),
            pedal: Mutex::new(()),
            time: Lock::new(Time {
                began,
                hidden: Duration::ZERO,
                standing: None,
            }),
        }
    }

    pub(super) async fn hold(&self) -> Result<(), SandboxError> {
        let _pedal = self.pedal.lock().await;
        self.sandbox.pause().await?;
        self.time().stand(Instant::now());
        Ok(())
    }

    /// A world that is to end does not go on.
    pub(super) async fn release(&self) -> Result<(), SandboxError> {
        if self.stop.is_set() {
            return Ok(());
        }
        let _pedal = self.pedal.lock().await;
        if self.stop.is_set() {
            return Ok(());
        }
        self.time().go(Instant::now());
        self.sandbox.resume().await
    }

    /// Holds the world as soon as the play is told to stop. The error says why it can't be held.
    pub(super) async fn at_the_end(&self) -> Result<(), String> {
        stopped(&self.stop).await;
        self.hold().await.map_err(|error| error.to_string())
    }

    /// How long the world has moved.
    pub(super) fn world(&self) -> Duration {
        self.time().moved(Instant::now())
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Time {
    fn stand(&mut self, now: Instant) {
        self.standing.get_or_insert(now);
    }

    fn go(&mut self, now: Instant) {
        if let Some(since) = self.standing.take() {
            self.hidden += now.saturating_duration_since(since);
        }
    }

    fn moved(mut self, now: Instant) -> Duration {
        self.go(now);
        let wall = now.saturating_duration_since(self.began);
        wall.saturating_sub(self.hidden)
    }
}

impl From<SandboxError> for Trouble {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Denied(why) => Self::Restless(why),
            error => Self::Gone(error.into()),
        }
    }
}

impl Trouble {
    /// How it ends the turn, unless it is a fault.
    pub(super) fn end(self, attempt: &mut Attempt) -> Result<TurnEnd, Fault> {
        match self {
            Self::Gone(gone) => ended_by_loss(attempt, gone),
            Self::Restless(why) => {
                let note = format!("the world does not stand still: {why}");
                attempt.end_note = Some(note);
                Ok(TurnEnd::Crashed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_with_the_world() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let mut time = Time {
            began,
            hidden: Duration::ZERO,
            standing: None,
        };
        let moved = |time: &Time, ms| time.moved(at(ms)).as_millis();
        assert_eq!(moved(&time, 10), 10);
        time.stand(at(10));
        time.stand(at(20));
        assert_eq!(moved(&time, 500), 10);
        time.go(at(510));
        time.go(at(600));
        assert_eq!(moved(&time, 520), 20);
        time.stand(at(530));
        assert_eq!(moved(&time, 9_000), 30);
    }

    #[test]
    fn whose_doing_it_is_that_a_world_does_not_stop() {
        let of = Trouble::from;
        let restless = SandboxError::Denied("some programs do not stand still".to_owned());
        assert!(matches!(of(restless), Trouble::Restless(_)));
        let memory = of(SandboxError::OutOfMemory);
        assert!(matches!(memory, Trouble::Gone(Gone::BroughtDown)));
        for ours in [
            SandboxError::Gone("crashed".to_owned()),
            SandboxError::Timeout {
                what: "pausing",
                seconds: 1.0,
            },
        ] {
            assert!(matches!(of(ours), Trouble::Gone(Gone::Fault(_))));
        }
    }
}
