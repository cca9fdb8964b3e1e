//! A trajectory as actions that an agent plays again.

use agon_core::Action;

use super::action::{NoCoreAction, core_action};
use crate::events::{Action as Foreign, EventError, read_trajectory};

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
        let action = match action {
            // Nobody answers while an old trajectory is played: what was said is only noted.
            Foreign::Message(said) if !said.wait_for_response => {
                let thought = said.content.clone();
                replay.actions.push(Action::Think { thought });
                continue;
            }
            action => action,
        };
        match core_action(action) {
            Ok(action) => replay.actions.push(action),
            Err(why) => replay.left_out.push(why),
        }
    }
    Ok(replay)
}
