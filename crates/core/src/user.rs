//! Who answers the agent's messages, as data. How a user of each kind talks is the business of the `agent`
//! crate; those that are code bring their own.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::event::Event;

/// What a user says to end the conversation.
pub const EXIT: &str = "/exit";

#[derive(Debug, Clone, PartialEq)]
pub enum User {
    /// These replies in order; after the last one nothing comes back.
    Script(Vec<String>),
    /// The same words every time.
    Fixed(String),
    /// Tells the agent to go on by itself, and from the second time on that it may give up.
    Nudge(Nudge),
    /// The first rule that fits the agent's message answers it.
    Rules(Rules),
    /// A language model in character.
    Persona(Persona),
    /// Code of a program that uses Agon as a library.
    Own(OwnUser),
    /// Somebody at the keyboard.
    Person,
}

impl Default for User {
    fn default() -> Self {
        Self::Script(Vec::new())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudge {
    /// Ask for the answer between `<solution>` and `</solution>`.
    pub solution_tags: bool,
    /// A message in which this regular expression is found is the answer: the conversation ends.
    pub answer: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// What is said when no rule fits.
    pub otherwise: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// A regular expression, found anywhere in the agent's message; letters of either case.
    pub when: String,
    /// [`EXIT`] ends the conversation.
    pub say: String,
    /// Says it only once, then later rules get their turn.
    pub once: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// Who they are and how they talk.
    pub character: String,
    /// What they want, which they don't say unless asked.
    pub goal: String,
    /// What they know, and may tell when asked. Whatever they say must agree with it.
    pub facts: Vec<String>,
    /// The section of the model that speaks; without it, the run's own.
    pub model: Option<String>,
    /// Messages after which they leave.
    pub patience: u32,
}

/// Speaks for a user. Must depend on nothing but what it is given.
pub trait UserVoice: fmt::Debug + Send + Sync {
    /// Over everything that can change an answer.
    fn digest(&self) -> Digest;

    /// What the user says to the agent's last message; [`EXIT`] ends the conversation.
    fn reply(&self, so_far: &[Event]) -> String;
}

/// A voice as part of a task; two are equal if their digests are.
#[derive(Debug, Clone)]
pub struct OwnUser(Arc<dyn UserVoice>);

impl OwnUser {
    pub fn new(voice: impl UserVoice + 'static) -> Self {
        Self(Arc::new(voice))
    }
}

impl std::ops::Deref for OwnUser {
    type Target = dyn UserVoice;
    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl PartialEq for OwnUser {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}
