//! Keeps the last steps of a turn and says when they are those of an agent that is stuck.

use agon_core::{Observation, User};

use super::rule::{LONGEST, Rule};
use super::step::{Deed, Step};

/// Waiting is what an agent is told to do while a command runs, so it may, for long.
const MOST_WAITS: u32 = 20;

#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// The last ones without those that only waited, at most as many as a rule looks at.
    steps: Vec<Step>,
    /// The last wait, and how often it was the same in a row.
    waited: Option<(Step, u32)>,
    /// The user says nothing that depends on what was said.
    hears_nothing: bool,
}

impl Detector {
    pub(crate) fn new(user: &User) -> Self {
        Self {
            hears_nothing: matches!(user, User::Nudge(_) | User::Fixed(_)),
            ..Self::default()
        }
    }

    /// Takes in a step and what came of it.
    pub(crate) fn saw(&mut self, deed: Deed, observation: &Observation) -> Option<Rule> {
        let step = Step::new(deed, observation, self.hears_nothing);
        if deed.waits(observation) {
            return self.saw_wait(step);
        }
        self.waited = None;
        if self.steps.len() == LONGEST {
            self.steps.remove(0);
        }
        self.steps.push(step);
        Rule::find(&self.steps)
    }

    fn saw_wait(&mut self, step: Step) -> Option<Rule> {
        let before = self.waited.take().filter(|(last, _)| *last == step);
        let times = before.map_or(1, |(_, times)| times + 1);
        self.waited = Some((step, times));
        (times >= MOST_WAITS).then_some(Rule::Waiting(times))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
