//! Keeps the last steps of a turn and says when they are those of an agent that is stuck.

use agon_core::Observation;

use super::rule::{LONGEST, Rule};
use super::step::{Deed, Step};

#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// The last ones, at most as many as a rule looks at.
    steps: Vec<Step>,
}

impl Detector {
    /// Takes in a step and what came of it.
    pub(crate) fn saw(&mut self, deed: Deed, observation: &Observation) -> Option<Rule> {
        if self.steps.len() == LONGEST {
            self.steps.remove(0);
        }
        self.steps.push(Step::new(deed, observation));
        Rule::find(&self.steps)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
