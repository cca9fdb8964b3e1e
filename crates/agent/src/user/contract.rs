//! The contract of every user: a message of the agent in, words out. A user never waits for anybody
//! unless it is a person, and never sees more than the agent was told and did.

use std::fmt;

use agon_core::Event;
use async_trait::async_trait;

/// What a user hears.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    pub message: &'a str,
    /// All that was recorded of the trial, up to the message; empty unless [`Respondent::looks_back`].
    pub so_far: &'a [Event],
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

/// Why a user does not answer: never the agent's doing, so these are faults.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    #[error("the simulated user can't be set up: {0}")]
    Setup(String),
    #[error("the simulated user's model failed: {0}")]
    Model(String),
    /// It said what contradicts its facts, again and again.
    #[error("the simulated user did not stay with its facts: {0}")]
    Untruthful(String),
    #[error("nobody answers: {0}")]
    Nobody(String),
}

#[async_trait]
pub trait Respondent: fmt::Debug + Send {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError>;

    /// Whether it wants to know all that happened so far.
    fn looks_back(&self) -> bool {
        false
    }
}

/// Somebody at the keyboard.
#[async_trait]
pub trait Person: fmt::Debug + Send + Sync {
    /// Shows the agent's message and waits for an answer.
    async fn ask(&self, message: &str) -> Result<String, UserError>;
}
