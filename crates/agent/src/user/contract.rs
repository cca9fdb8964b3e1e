//! The contract of every user: a message of the agent in, words out. A user never waits for anybody
//! unless it is a person, and never sees more than the agent was told and did.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agon_core::Event;
use agon_core::verdict::TurnEnd;
use async_trait::async_trait;

/// What a user hears.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    pub message: &'a str,
    /// All that was recorded of the trial, up to the message; empty unless the user is the program's own.
    pub so_far: &'a Arc<Vec<Event>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Words(String),
    /// The user leaves: the agent's turn is over.
    Exit,
    /// The message is taken note of.
    Nothing,
}

impl Reply {
    /// Words as users give them, of which [`agon_core::user::EXIT`] is the last.
    pub fn from_words(words: String) -> Self {
        if words.trim() == agon_core::user::EXIT {
            Self::Exit
        } else {
            Self::Words(words)
        }
    }
}

/// Why a user does not answer: not the agent's doing, so these are faults.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    #[error("the simulated user can't be set up: {0}")]
    Setup(String),
    #[error("the simulated user's model failed: {0}")]
    Model(String),
    /// The tokens or money of whoever pays are used up: `TokenLimit` or `MoneyLimit`.
    #[error("there is no budget left for the simulated user's model")]
    Spent(TurnEnd),
    #[error("nobody answers: {0}")]
    Nobody(String),
}

#[async_trait]
pub trait Respondent: fmt::Debug + Send {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError>;

    /// What is to be recorded of how the last answer came about, and never told to the agent.
    fn remark(&mut self) -> Option<String> {
        None
    }

    /// How long an answer may take, where that is more than a step of the agent.
    fn takes(&self) -> Option<Duration> {
        None
    }
}

/// Somebody at the keyboard.
#[async_trait]
pub trait Person: fmt::Debug + Send + Sync {
    /// Shows the agent's message and waits for an answer.
    async fn ask(&self, message: &str) -> Result<String, UserError>;
}

/// What a user says to a message, in tests.
#[cfg(test)]
pub(super) async fn said(user: &mut dyn Respondent, message: &str) -> Reply {
    let so_far = &Arc::default();
    user.reply(Heard { message, so_far }).await.unwrap()
}
