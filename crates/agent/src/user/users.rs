//! From a task's user, which is data, to one who answers: one for each trial.

use std::sync::Arc;

use agon_core::{Seed, User};
use agon_llm::{Account, Model};

use super::contract::{Person, Respondent, UserError};
use super::script::Script;

/// What users may need from the outside, given once per run.
#[derive(Debug, Clone, Default)]
pub struct Users {
    /// The first speaks for personas that name none.
    pub models: Vec<Model>,
    /// Who sits at the keyboard; `None`: nobody.
    pub person: Option<Arc<dyn Person>>,
}

/// One trial, as far as its user goes.
#[derive(Debug)]
pub struct UserContext<'a> {
    pub instruction: &'a str,
    pub seed: Seed,
    /// Pays for the model of a persona.
    pub account: &'a Arc<Account>,
}

impl Users {
    pub fn open(
        &self,
        user: &User,
        _context: &UserContext<'_>,
    ) -> Result<Box<dyn Respondent>, UserError> {
        match user {
            User::Script(replies) => Ok(Box::new(Script::new(replies.clone()))),
            _ => Err(UserError::Setup("not built yet".to_owned())),
        }
    }
}
