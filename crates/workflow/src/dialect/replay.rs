//! A trajectory as actions that an agent plays again.

use agon_core::Action;

use super::action::{NoCoreAction, core_action};
use crate::events::{EventError, read_trajectory};

/// What a trajectory comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The user's first words.
    pub task: String,
    pub actions: Vec<Action>,
    /// Those that can't be played here, and why.
    pub left_out: Vec<NoCoreAction>,
}

pub fn replay(trajectory: &str) -> Result<Replay, EventError> {
    let (first, foreign) = read_trajectory(trajectory)?;
    let mut replay = Replay {
        task: first.content,
        actions: Vec::new(),
        left_out: Vec::new(),
    };
    for action in &foreign {
        match core_action(action) {
            Ok(action) => replay.actions.push(action),
            Err(why) => replay.left_out.push(why),
        }
    }
    Ok(replay)
}
