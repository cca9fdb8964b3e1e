//! One task under evaluation: its id, its own signal to stop, and how it ended. The first ending
//! counts. Whatever is started for a task holds its round and nothing else, so that what comes late
//! ends a round that is over already.

use std::sync::Arc;
use std::time::Instant;

use agon_agent::play::{Cause, Stop, Task};
use agon_core::PlayStats;
use tokio::sync::watch;

use super::machine::RoundId;
use crate::judging::Judging;
use crate::result::StopReason;

/// How long words about an ending may be: they may come from an agent.
const LONGEST: usize = 2_000;

#[derive(Debug)]
pub(super) struct Round {
    pub(super) id: RoundId,
    pub(super) task: Task,
    pub(super) judging: Judging,
    ending: watch::Sender<Option<Arc<Ending>>>,
}

#[derive(Debug)]
pub(super) struct Ending {
    pub(super) reason: StopReason,
    pub(super) detail: String,
    /// When it was decided.
    pub(super) at: Instant,
    pub(super) by: By,
}

#[derive(Debug)]
pub(super) enum By {
    /// The agent has to be told.
    Us,
    /// It plays no more; perhaps it says what it measured.
    Agent(Option<PlayStats>),
}

impl Round {
    pub(super) fn new(id: RoundId, task: Task, judging: Judging) -> Self {
        Self {
            id,
            task,
            judging,
            ending: watch::Sender::new(None),
        }
    }

    pub(super) const fn stop(&self) -> &Stop {
        self.judging.stop()
    }

    /// Ends it, unless it has ended; says whether it was this that did.
    pub(super) fn end(&self, reason: StopReason, detail: impl Into<String>) -> bool {
        self.end_by(By::Us, reason, detail)
    }

    pub(super) fn end_by(&self, by: By, reason: StopReason, detail: impl Into<String>) -> bool {
        let ending = Ending {
            reason,
            detail: detail.into().chars().take(LONGEST).collect(),
            at: Instant::now(),
            by,
        };
        let first = self.ending.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(Arc::new(ending));
            }
            first
        });
        // Wakes all who work for this round.
        self.stop().ask(match reason {
            StopReason::Timeout => Cause::Timeout,
            StopReason::EnvEnded => Cause::EnvEnded,
            StopReason::Operator => Cause::Operator,
            _ => Cause::Asked,
        });
        first
    }

    pub(super) fn ending(&self) -> Option<Arc<Ending>> {
        self.ending.borrow().clone()
    }

    pub(super) async fn ended(&self) -> Arc<Ending> {
        let mut ending = self.ending.subscribe();
        loop {
            if let Some(ending) = &*ending.borrow_and_update() {
                return Arc::clone(ending);
            }
            // The sender is ours, so it is there.
            if ending.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
