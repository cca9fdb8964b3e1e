//! Players as agents of a run: named by the same specs, and refused where an agent has to take turns.

use agon_core::{ActionKind, Brief, Observation};
use async_trait::async_trait;

use super::super::contract::Player;
use super::list::{PlayerKind, find};
use super::{hexagon, one_key, random_keys};
use crate::contract::{Agent, AgentError, Answer};
use crate::error::SetupError;
use crate::factory::{Contender, TrialContext};
use crate::registry::Kind;

/// `noop` is an agent that takes turns as well, and has a kind of its own.
pub(crate) const ONE_KEY: Kind = kind(
    &one_key::PLAYER,
    |argument| check(&one_key::PLAYER, argument),
    |argument, _| open(&one_key::PLAYER, argument),
);

pub(crate) const RANDOM_KEYS: Kind = kind(
    &random_keys::PLAYER,
    |argument| check(&random_keys::PLAYER, argument),
    |argument, _| open(&random_keys::PLAYER, argument),
);

pub(crate) const HEXAGON: Kind = kind(
    &hexagon::PLAYER,
    |argument| check(&hexagon::PLAYER, argument),
    |argument, _| open(&hexagon::PLAYER, argument),
);

const fn kind(
    player: &PlayerKind,
    check: fn(&str) -> Result<(), String>,
    open: crate::registry::Open,
) -> Kind {
    Kind {
        name: player.name,
        argument: player.argument,
        about: player.about,
        check,
        open,
    }
}

/// `argument` is all that follows the name, its colon included.
fn check(player: &PlayerKind, argument: &str) -> Result<(), String> {
    find(&format!("{}{argument}", player.name)).map(drop)
}

fn open(player: &PlayerKind, argument: &str) -> Result<Box<dyn Contender>, SetupError> {
    let spec = format!("{}{argument}", player.name);
    Ok(Box::new(PlayerEntry { spec }))
}

#[derive(Debug)]
struct PlayerEntry {
    spec: String,
}

impl Contender for PlayerEntry {
    fn for_trial(&self, _: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        let spec = self.spec.clone();
        Ok(Box::new(PlaysOnly { spec }))
    }

    fn player(&self, _: &TrialContext<'_>) -> Option<Box<dyn Player>> {
        // Looked at when the spec was read.
        find(&self.spec).ok()
    }
}

/// A player on a task that takes turns: it uses none of the actions there are, so its task is refused
/// before it is played, and the record says why.
#[derive(Debug)]
struct PlaysOnly {
    spec: String,
}

impl PlaysOnly {
    fn why(&self) -> String {
        format!(
            "`{}` plays in real time only: it can't take turns, so give it tasks with `realtime`",
            self.spec
        )
    }
}

#[async_trait]
impl Agent for PlaysOnly {
    fn uses(&self) -> Option<&[ActionKind]> {
        Some(&[])
    }

    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Err(AgentError::Crashed(self.why()))
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        Err(AgentError::Crashed(self.why()))
    }

    fn complaints(&self) -> Option<String> {
        Some(self.why())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_takes_no_turns_and_says_so() {
        let agent = PlaysOnly {
            spec: "one-key:Left".to_owned(),
        };
        assert_eq!(agent.uses(), Some([].as_slice()));
        let why = agent.complaints().unwrap();
        assert!(
            why.contains("`one-key:Left` plays in real time only"),
            "{why}"
        );
    }
}
