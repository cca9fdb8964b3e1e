//! `noop`: finishes at once; in real time it does nothing to the end. What it passes, a task gives away.

use agon_core::{Action, ActionKind, Brief, Observation};
use async_trait::async_trait;

use crate::contract::{Agent, AgentError, Answer};
use crate::factory::{Contender, TrialContext};
use crate::play::{Player, players};
use crate::registry::Kind;

pub(crate) const KIND: Kind = Kind {
    name: "noop",
    argument: "",
    about: "finishes at once without doing anything",
    check: |_| Ok(()),
    open: |_, _| Ok(Box::new(Noop)),
};

#[derive(Debug, Clone, Copy)]
struct Noop;

impl Contender for Noop {
    fn for_trial(&self, _: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(*self))
    }

    fn player(&self, _: &TrialContext<'_>) -> Option<Box<dyn Player>> {
        players::find(KIND.name).ok()
    }
}

#[async_trait]
impl Agent for Noop {
    fn uses(&self) -> Option<&[ActionKind]> {
        Some(&[ActionKind::Finish])
    }

    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Ok(())
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        Ok(Action::Finish { result: None }.into())
    }
}
