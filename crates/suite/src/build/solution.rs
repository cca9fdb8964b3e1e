//! The solution of a task: a list of actions, a script, or the name of a player.

use agon_core::{Action, Solution};

use super::action;
use crate::format::PlayerFile;
use crate::source::{Content, Node, NodeError};

const LONGEST_PLAYER: usize = 100;

/// `task` is the root of the task's file, `solve` the content of `solution/solve.sh`.
pub(super) fn solution(
    task: &Node,
    solve: Option<String>,
    errors: &mut Vec<NodeError>,
) -> Option<Solution> {
    let written = task.get("solution").filter(|node| !node.is_null());
    match (written, solve) {
        (Some(node), Some(_)) => {
            let message = "there are two solutions: this one and solution/solve.sh";
            let span = task.key_span("solution").unwrap_or_else(|| node.head());
            errors.push(NodeError::new(message).at(span));
            None
        }
        (None, solve) => solve.map(|script| Solution::Actions(vec![Action::run(script)])),
        (Some(node), None) => match &node.content {
            Content::Sequence(list) => {
                let mut actions = Vec::new();
                for item in list {
                    match action::read(item) {
                        Ok(action) => actions.push(action),
                        Err(error) => errors.push(error),
                    }
                }
                Some(Solution::Actions(actions))
            }
            Content::Mapping(_) => match player(task, node) {
                Ok(player) => Some(Solution::Player(player)),
                Err(error) => {
                    errors.push(error.at(node.head()));
                    None
                }
            },
            Content::Scalar { .. } => {
                let message = "expected a list of actions, or `player: NAME`";
                errors.push(NodeError::new(message).at(node.span));
                None
            }
        },
    }
}

fn player(task: &Node, node: &Node) -> Result<String, NodeError> {
    let PlayerFile { player } = node.read()?;
    let place = || node.get("player").unwrap_or(node).head();
    let odd = |c: char| c.is_whitespace() || c.is_control();
    if player.is_empty() || player.len() > LONGEST_PLAYER || player.contains(odd) {
        let message = format!("`{player}` is no player: expected a name such as hexagon");
        return Err(NodeError::new(message).at(place()));
    }
    if task.get("realtime").is_none_or(Node::is_null) {
        return Err(
            NodeError::new("a player plays in real time, and this task does not")
                .help("add `realtime:`, or list the actions that solve the task")
                .at(place()),
        );
    }
    Ok(player)
}
