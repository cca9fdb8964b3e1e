//! What an onlooker is told while a run goes on: for progress bars and live views. An onlooker can't
//! change anything, and being slow it must not slow the run: calls are cheap and never wait.

use std::fmt::Debug;

use agon_core::event::Phase;
use agon_core::{Event, TrialId};
use agon_store::TrialLine;

pub trait Watch: Debug + Send + Sync {
    /// `left` trials are to be played now; `done` were finished before.
    fn planned(&self, _left: u64, _done: u64) {}
    fn started(&self, _trial: &TrialId, _attempt: u32) {}
    fn phase(&self, _trial: &TrialId, _phase: Phase) {}
    fn step(&self, _trial: &TrialId, _step: u32, _of: u32) {}
    /// An attempt ended and is on disk.
    fn ended(&self, _line: &TrialLine) {}
    /// Whether [`Watch::event`] is to be called.
    fn hears_events(&self) -> bool {
        false
    }
    /// Something was recorded.
    fn event(&self, _trial: &TrialId, _event: &Event) {}
    fn note(&self, _text: &str) {}
}

/// Nobody looks.
#[derive(Debug)]
pub struct Unwatched;

impl Watch for Unwatched {}
