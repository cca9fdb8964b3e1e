//! The run's budget: when it is spent, no further trial starts. What runs is played to its end,
//! because a trial cut short would be evidence thrown away; only what asks models of ours is cut before
//! its next call, and played again when there is more.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_core::verdict::TurnEnd;
use agon_core::{Clock, Money, Usage};
use agon_llm::Account;
use agon_store::TrialLine;

use crate::table::Table;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunBudget {
    pub steps: Option<u64>,
    pub time: Option<Duration>,
    pub tokens: Option<u64>,
    pub money: Option<Money>,
}

/// What a run has used so far. Steps, tokens and money of earlier commands count; time is that of
/// this command.
#[derive(Debug, Default)]
pub struct Spent {
    steps: u64,
    usage: Usage,
}

impl Spent {
    pub fn new(steps: u64, usage: Usage) -> Self {
        Self { steps, usage }
    }

    fn add(&mut self, steps: u32, usage: &Usage) {
        self.steps += u64::from(steps);
        self.usage += usage;
    }

    /// What is used up, if anything.
    fn over(&self, budget: &RunBudget, elapsed: Duration) -> Option<&'static str> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        if over(budget.steps, self.steps) {
            Some("steps")
        } else if budget.time.is_some_and(|limit| elapsed >= limit) {
            Some("time")
        } else if over(budget.tokens, self.usage.tokens()) {
            Some("tokens")
        } else if budget
            .money
            .is_some_and(|limit| self.usage.money.unwrap_or_default() >= limit)
        {
            Some("money")
        } else {
            None
        }
    }
}

/// The budget of a run and what is gone of it: every attempt books what it used, also one that is
/// tried again.
#[derive(Debug)]
pub(crate) struct Purse {
    budget: RunBudget,
    spent: Mutex<Spent>,
    /// Knows what trials spend before they have ended.
    account: Arc<Account>,
    clock: Arc<dyn Clock>,
    began: Duration,
}

impl Purse {
    pub(crate) fn new(budget: RunBudget, spent: Spent, table: &Table) -> Self {
        let clock = &table.clock;
        Self {
            budget,
            spent: Mutex::new(spent),
            account: Arc::clone(&table.account),
            clock: Arc::clone(clock),
            began: clock.monotonic(),
        }
    }

    pub(crate) fn book(&self, line: &TrialLine) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.add(line.steps, &line.usage);
    }

    /// What is used up, if anything.
    pub(crate) fn over(&self) -> Option<&'static str> {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = self.clock.monotonic().saturating_sub(self.began);
        let asked = || match self.account.over()? {
            TurnEnd::MoneyLimit => Some("money"),
            _ => Some("tokens"),
        };
        spent.over(&self.budget, elapsed).or_else(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_is_watched() {
        let mut spent = Spent::default();
        let usage = Usage {
            input_tokens: 60,
            output_tokens: 40,
            money: Money::parse("0.5"),
            ..Usage::default()
        };
        spent.add(10, &usage);
        let over = |budget: RunBudget| spent.over(&budget, Duration::from_secs(5));
        assert_eq!(over(RunBudget::default()), None);
        assert_eq!(
            over(RunBudget {
                steps: Some(10),
                ..Default::default()
            }),
            Some("steps")
        );
        assert_eq!(
            over(RunBudget {
                steps: Some(11),
                ..Default::default()
            }),
            None
        );
        assert_eq!(
            over(RunBudget {
                tokens: Some(100),
                ..Default::default()
            }),
            Some("tokens")
        );
        let time = RunBudget {
            time: Some(Duration::from_secs(5)),
            ..Default::default()
        };
        assert_eq!(over(time), Some("time"));
        let money = RunBudget {
            money: Money::parse("0.50"),
            ..Default::default()
        };
        assert_eq!(over(money), Some("money"));
    }
}
