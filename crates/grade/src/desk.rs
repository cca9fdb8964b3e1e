//! What grading needs beside the evidence: where commands run, whom to ask about prose, and where to put
//! down what is to be recorded.

use std::sync::{Arc, Mutex, PoisonError};

use agon_core::{EventBody, RanCommand};
use agon_llm::Account;

use crate::judge::Judge;
use crate::place::Place;

#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    pub place: &'a Place<'a>,
    /// `None`: nobody can be asked about prose.
    pub judge: Option<Bench<'a>>,
    pub told: &'a Told,
}

/// A judge, and who pays for it.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    pub judge: &'a Judge,
    pub account: &'a Arc<Account>,
}

/// What grading wants to be recorded, in order, whether it ends in a verdict or in a fault.
#[derive(Debug, Default)]
pub struct Told(Mutex<Vec<EventBody>>);

impl Told {
    pub fn tell(&self, body: EventBody) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(body);
    }

    /// What a command of this grading has printed.
    pub(crate) fn ran(&self, command: &str) -> Option<RanCommand> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.iter().find_map(|body| match body {
            EventBody::Ran(ran) if ran.command == command => Some(ran.clone()),
            _ => None,
        })
    }

    pub fn take(&self) -> Vec<EventBody> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
