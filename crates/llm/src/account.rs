//! Who pays and what was said: the usage of a trial or a run, its budget, and the calls that wait to be
//! recorded. A trial's account is a child of its run's.

mod holds;
mod rate;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_core::verdict::TurnEnd;
use agon_core::{ModelFault, Money, Purpose, Usage};
use serde_json::Value;
use tokio::sync::Notify;

use self::holds::Held;
use self::rate::Rate;
use crate::error::LlmError;

pub(crate) use self::holds::{Hold, Quote};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    pub tokens: Option<u64>,
    pub money: Option<Money>,
}

/// One call, as it is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    pub model: String,
    pub purpose: Purpose,
    pub seconds: f64,
    pub tries: u32,
    pub taped: bool,
    pub usage: Usage,
    pub request: Option<Arc<Value>>,
    pub response: Option<Arc<Value>>,
    pub error: Option<LlmError>,
}

#[derive(Debug, Default)]
pub struct Account {
    /// `run` or `trial`, for messages.
    of: &'static str,
    budget: Budget,
    books: Mutex<Books>,
    /// A call was settled, here or in any account below.
    given_back: Notify,
    /// How its agent's own client asks.
    rate: Rate,
    /// `None`: nobody records here.
    calls: Option<Mutex<Vec<CallRecord>>>,
    /// How often they were taken.
    emptied: AtomicU64,
    /// How far every script of a `mock` model has come: each trial begins at its start.
    turns: Mutex<HashMap<String, usize>>,
    /// An agent of ours asked what no tape has: the tape is not of this run.
    missed_tape: AtomicBool,
    parent: Option<Arc<Account>>,
}

/// What is gone, and what calls under way may come to.
#[derive(Debug, Default)]
struct Books {
    spent: Usage,
    held: Held,
}

const TRIAL: &str = "trial";

impl Account {
    pub fn of_run(budget: Budget) -> Self {
        Self {
            of: "run",
            budget,
            ..Self::default()
        }
    }

    /// What is booked here is booked on `run` as well.
    pub fn of_trial(budget: Budget, run: Option<Arc<Self>>) -> Self {
        Self {
            of: TRIAL,
            budget,
            calls: Some(Mutex::default()),
            parent: run,
            ..Self::default()
        }
    }

    /// Whether a further call may be made. Asked before each.
    pub fn check(&self) -> Result<(), LlmError> {
        let Some(over) = self.over() else {
            return self.parent.as_ref().map_or(Ok(()), |run| run.check());
        };
        let what = match over {
            TurnEnd::MoneyLimit => "money",
            _ => "tokens",
        };
        let why = format_args!("the {}'s budget of {what} is spent", self.of);
        let mut error = LlmError::new(ModelFault::Budget, why);
        error.spent = Some(over);
        Err(error)
    }

    /// Which of its own budgets is spent, if any: `TokenLimit` or `MoneyLimit`.
    pub fn over(&self) -> Option<TurnEnd> {
        let spent = self.spent();
        if self
            .budget
            .tokens
            .is_some_and(|most| spent.tokens() >= most)
        {
            Some(TurnEnd::TokenLimit)
        } else if (self.budget.money).is_some_and(|most| spent.money.unwrap_or_default() >= most) {
            Some(TurnEnd::MoneyLimit)
        } else {
            None
        }
    }

    /// Counts what it used, and keeps it for the record.
    pub fn book(&self, record: CallRecord) {
        self.add(&record.usage);
        self.keep(record);
    }

    fn is_of_trial(&self) -> bool {
        self.of == TRIAL
    }

    pub(crate) fn rate(&self) -> &Rate {
        &self.rate
    }

    /// For the record alone: what it used was counted when it was known.
    pub(crate) fn keep(&self, record: CallRecord) {
        if let Some(calls) = &self.calls {
            calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(record);
        }
    }

    /// How often the calls that waited here were taken to be recorded.
    pub(crate) fn emptied(&self) -> u64 {
        self.emptied.load(Ordering::Relaxed)
    }

    /// Whether calls are recorded here.
    pub(crate) fn listens(&self) -> bool {
        self.calls.is_some()
    }

    /// How often this was asked for before: the place in a script of answers.
    pub(crate) fn turn(&self, script: &str) -> usize {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = turns.entry(script.to_owned()).or_default();
        *turn += 1;
        *turn - 1
    }

    pub(crate) fn miss_tape(&self) {
        self.missed_tape.store(true, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.miss_tape();
        }
    }

    /// Whether the tape is of other agents or tasks than those that are played. What the client of somebody
    /// else's agent asks tells nothing about that: it may ask anything.
    pub fn missed_tape(&self) -> bool {
        self.missed_tape.load(Ordering::Relaxed)
    }

    /// What was spent elsewhere, such as by an earlier command.
    pub fn add(&self, usage: &Usage) {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.spent += usage;
        drop(books);
        if let Some(parent) = &self.parent {
            parent.add(usage);
        }
    }

    pub fn spent(&self) -> Usage {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.spent.clone()
    }

    /// The calls since the last time, in the order in which they ended.
    pub fn take_calls(&self) -> Vec<CallRecord> {
        self.emptied.fetch_add(1, Ordering::Relaxed);
        self.calls.as_ref().map_or_else(Vec::new, |calls| {
            std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }
}
