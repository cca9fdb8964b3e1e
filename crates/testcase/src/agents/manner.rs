//! How a model is spoken to, and what its answers mean: the part of an agent that is its own. Knows nothing
//! of the trial, of accounts and of faults.

use std::fmt;

use agon_core::{Action, ActionKind, Brief};
use agon_llm::{ModelSpec, Output, Part, Reply, Tool, ToolCall};
use serde_json::Value;

use super::sight::{Sight, Sizing};
use crate::dialect::Frame;

/// What a model is told before it sees anything.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    pub brief: &'a Brief,
    /// What the task allows, of what agents with a screen can do.
    pub allowed: &'a [ActionKind],
    /// The screen's size as the model counts.
    pub size: (u32, u32),
    pub model: &'a ModelSpec,
}

impl Scene<'_> {
    pub fn allows(&self, kind: ActionKind) -> bool {
        self.allowed.contains(&kind)
    }
}

/// What an answer holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Recorded, never graded.
    pub thought: Option<String>,
    /// In the order in which they are to be done. None: told to the model as a wrong answer.
    pub wishes: Vec<Wish>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// As the model wrote it: what is recorded if it is refused.
    pub text: String,
    pub what: What,
    /// The call by the provider's own means that it was made from.
    pub call: Option<ToolCall>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// An action in the system's own words, for [`Manner::actions`] when its turn comes.
    Call(Value),
    Act(Action),
    /// No action: why.
    Wrong(String),
}

/// A wish and what came of it.
#[derive(Debug, Clone)]
pub struct Done {
    pub wish: Wish,
    /// What was observed in words; often empty.
    pub text: String,
    /// It could not be done, or was refused.
    pub failed: bool,
    /// The screen afterwards.
    pub sight: Sight,
}

pub trait Manner: fmt::Debug + Send + Sync {
    /// Over everything of it that decides what is asked: prompts, options.
    fn identity(&self) -> String;

    /// How the screen is fitted for this model.
    fn sizing(&self, model: &ModelSpec) -> Sizing;

    /// Pictures that the model is shown, the newest; at least 1.
    fn window(&self) -> usize;

    /// Earlier answers that the model is shown, the newest.
    fn answers(&self) -> usize {
        usize::MAX
    }

    /// What stands for an older picture.
    fn instead_of_picture(&self) -> Part {
        Part::Text("(an earlier picture of the screen, left out)".to_owned())
    }

    /// The system prompt.
    fn system(&self, scene: &Scene<'_>) -> Result<String, String>;

    fn tools(&self, _scene: &Scene<'_>) -> Vec<Tool> {
        Vec::new()
    }

    fn output(&self, _scene: &Scene<'_>) -> Output {
        Output::Text
    }

    /// The first message of the user.
    fn opening(&self, scene: &Scene<'_>, sight: &Sight) -> Vec<Part>;

    /// An answer that was cut at the limit of its length has `Stop::MaxTokens`: its words are no result.
    fn read(&self, reply: &Reply) -> Reading;

    /// What is kept of an answer for the next question.
    fn kept(&self, parts: Vec<Part>) -> Vec<Part> {
        parts
    }

    /// What a call comes to: one or more actions, each a step.
    fn actions(&self, call: &Value, frame: &Frame) -> Result<Vec<Action>, String>;

    /// The next message of the user: what came of all wishes of the last answer, never none. The last one's
    /// sight is the newest.
    fn told(&self, done: &[Done]) -> Vec<Part>;
}
