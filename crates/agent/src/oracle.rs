//! `oracle`: plays the task's own solution. What it fails, nobody can pass. The solution stays on
//! our side: it is handed out action by action, as any agent's actions are.

use agon_core::{Action, Brief, HostOnly, Observation, Solution};
use async_trait::async_trait;

use crate::contract::{Agent, AgentError, Answer};
use crate::factory::{Contender, TrialContext};
use crate::play::{self, players};
use crate::registry::Kind;

pub(crate) const KIND: Kind = Kind {
    name: "oracle",
    argument: "",
    about: "plays the task's solution",
    check: |_| Ok(()),
    open: |_, _| Ok(Box::new(Oracle)),
};

#[derive(Debug)]
struct Oracle;

impl Contender for Oracle {
    /// A task without a solution is no fault of ours: the oracle's turn ends at its first step.
    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        let solution = match context.task.solution.on_host() {
            Some(Solution::Actions(actions)) => {
                let mut actions = actions.clone();
                if !matches!(actions.last(), Some(Action::Finish { .. })) {
                    actions.push(Action::Finish { result: None });
                }
                Some(actions)
            }
            Some(Solution::Player(name)) => {
                let why = match players::find(name) {
                    Ok(_) => {
                        "the task's solution is a player, and plays in real time only".to_owned()
                    }
                    Err(why) => why,
                };
                return Err(AgentError::Crashed(why));
            }
            None => None,
        };
        Ok(Box::new(Player {
            solution: HostOnly::new(solution),
            played: 0,
        }))
    }

    fn player(&self, context: &TrialContext<'_>) -> Option<Box<dyn play::Player>> {
        match context.task.solution.on_host() {
            Some(Solution::Player(name)) => players::find(name).ok(),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Player {
    solution: HostOnly<Option<Vec<Action>>>,
    played: usize,
}

#[async_trait]
impl Agent for Player {
    async fn start(&mut self, _: &Brief) -> Result<(), AgentError> {
        Ok(())
    }

    async fn act(&mut self, _: &Observation) -> Result<Answer, AgentError> {
        let actions =
            self.solution.on_host().as_ref().ok_or_else(|| {
                AgentError::Crashed("the task has no solution to play".to_owned())
            })?;
        let action = actions.get(self.played).ok_or(AgentError::Left)?;
        self.played += 1;
        Ok(action.clone().into())
    }
}
