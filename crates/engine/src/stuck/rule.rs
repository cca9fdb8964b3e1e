//! The rules by which a history is one of an agent that is stuck. Each looks at the last steps only.

use std::fmt;

use super::step::{Seen, Step};

/// Steps that the longest rule looks at.
pub(super) const LONGEST: usize = LONGEST_CYCLE * ROUNDS;

/// Cycles of one and two steps have rules of their own.
const SHORTEST_CYCLE: usize = 3;
const LONGEST_CYCLE: usize = 6;
const ROUNDS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Four times the same action with the same result.
    SameResult,
    /// Eight times the same command with the same exit status, whatever it printed.
    SameStatus,
    /// So many times the same wait, in which nothing happened.
    Waiting(u32),
    /// Three times the same action, and an error each time.
    SameError,
    /// Three times the same cell, which is no Python.
    SameSyntaxError,
    /// Three times the same message, to the same answers.
    Monologue,
    /// Three times the same two steps in turn.
    Alternation,
    /// Three times the same round of so many steps.
    Cycle(usize),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameResult => f.write_str("the same action four times with the same result"),
            Self::SameStatus => {
                f.write_str("the same command eight times with the same exit status")
            }
            Self::Waiting(times) => write!(f, "nothing happened while it waited {times} times"),
            Self::SameError => f.write_str("the same action three times with an error each time"),
            Self::SameSyntaxError => {
                f.write_str("the same cell three times with the same syntax error")
            }
            Self::Monologue => f.write_str("the same message three times"),
            Self::Alternation => f.write_str("the same two steps in turn, three times"),
            Self::Cycle(steps) => write!(f, "the same {steps} steps in a row, three times"),
        }
    }
}

impl Rule {
    /// The first rule that the last steps fall under.
    pub(super) fn find(steps: &[Step]) -> Option<Self> {
        let simple = [
            (Self::SameResult, 4, same_result as fn(&[Step]) -> bool),
            (Self::SameStatus, 8, same_status),
            (Self::SameError, 3, same_error),
            (Self::SameSyntaxError, 3, same_syntax_error),
            (Self::Monologue, 3, monologue),
            (Self::Alternation, 2 * ROUNDS, |steps| cycles(steps, 2)),
        ];
        let found = simple.into_iter().find(|(_, most, holds)| {
            let last = last(steps, *most);
            last.is_some_and(holds)
        });
        let cycle = || {
            let mut lengths = SHORTEST_CYCLE..=LONGEST_CYCLE;
            lengths.find(|length| last(steps, length * ROUNDS).is_some_and(|s| cycles(s, *length)))
        };
        found
            .map(|(rule, ..)| rule)
            .or_else(|| cycle().map(Self::Cycle))
    }
}

fn last(steps: &[Step], count: usize) -> Option<&[Step]> {
    steps.get(steps.len().checked_sub(count)?..)
}

fn same_deed(steps: &[Step]) -> bool {
    steps.windows(2).all(|pair| pair[0].deed == pair[1].deed)
}

fn same_result(steps: &[Step]) -> bool {
    // What a user answers is for the monologue's rule.
    !steps.iter().any(Step::is_message) && steps.windows(2).all(|pair| pair[0] == pair[1])
}

fn same_status(steps: &[Step]) -> bool {
    let status = |step: &Step| match step.seen {
        Seen::Ran { status, .. } => status,
        _ => None,
    };
    let first = steps.first().and_then(status);
    same_deed(steps) && first.is_some() && steps.iter().all(|step| status(step) == first)
}

fn same_error(steps: &[Step]) -> bool {
    same_deed(steps) && steps.iter().all(|step| matches!(step.seen, Seen::Error(_)))
}

fn same_syntax_error(steps: &[Step]) -> bool {
    let mistake = |step: &Step| match &step.seen {
        Seen::Cell { mistake, .. } => mistake.clone(),
        _ => None,
    };
    let first = steps.first().and_then(mistake);
    same_deed(steps) && first.is_some() && steps.iter().all(|step| mistake(step) == first)
}

/// The last answer has not been taken in yet, so it does not matter.
fn monologue(steps: &[Step]) -> bool {
    let answered = &steps[..steps.len() - 1];
    steps.iter().all(Step::is_message)
        && same_deed(steps)
        && answered.windows(2).all(|pair| pair[0].seen == pair[1].seen)
}

fn cycles(steps: &[Step], length: usize) -> bool {
    steps.iter().zip(&steps[length..]).all(|(a, b)| a == b)
}
