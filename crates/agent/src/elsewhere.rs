//! Somebody who plays whole trials in an environment of his own, and tells afterwards what happened. What
//! he tells is all the evidence there is.

use std::fmt;

use agon_core::verdict::TurnEnd;
use agon_core::{EventBody, Fault, Picture, RanCommand, Source, Task, TrialId, Usage};
use async_trait::async_trait;
use jiff::Timestamp;

/// One trial to be played elsewhere.
#[derive(Debug)]
pub struct Commission<'a> {
    pub task: &'a Task,
    pub trial: &'a TrialId,
}

/// What was told of it.
#[derive(Debug)]
pub struct Delivered {
    /// In order. Their sources are those of a trial that was played here.
    pub events: Vec<Told>,
    pub end: TurnEnd,
    /// Why it ended, in words, where the agent did not end it itself.
    pub why: Option<String>,
    /// The answer.
    pub result: Option<String>,
    /// The last screen, in memory.
    pub last: Option<Picture>,
    /// What the commands of checks printed there.
    pub commands: Vec<RanCommand>,
    pub steps: u32,
    pub usage: Usage,
}

#[derive(Debug)]
pub struct Told {
    pub source: Source,
    pub body: EventBody,
    /// The event among those told that this one answers.
    pub cause: Option<usize>,
    /// When it happened, as far as that is told.
    pub at: Option<Timestamp>,
}

#[async_trait]
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Ends within the task's limits, or is dropped. A fault is one of the runner: it is tried again.
    async fn play(&self, commission: &Commission<'_>) -> Result<Delivered, Fault>;
}
