//! One question to a model, free of any provider. What a section of the configuration says (temperature
//! and the like) is filled in where the request leaves it open.

use serde_json::{Map, Value};

use crate::message::Message;
use crate::spec::Wire;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    pub system: Option<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub tool_choice: ToolChoice,
    pub output: Output,
    pub sampling: Sampling,
    /// Keys of the provider's own body, merged last.
    pub extra: Map<String, Value>,
    /// A body in a provider's own form, from a client of its own. A provider of the same form sends it
    /// as it is, with its own model; the others are given what was read from it.
    pub raw: Option<(Wire, Value)>,
    /// Features of the provider that are not settled yet, which that client asks for by name.
    pub betas: Vec<String>,
    /// What `mock/expected` and `mock/wrong` answer. Never sent anywhere.
    pub answer_key: Option<AnswerKey>,
}

impl Request {
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::new([Message::user(text)])
    }
}

#[derive(Clone, PartialEq)]
pub struct AnswerKey {
    pub right: String,
    pub wrong: String,
}

impl std::fmt::Debug for AnswerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnswerKey(..)")
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Tool {
    Function {
        name: String,
        description: String,
        /// JSON Schema of the input.
        parameters: Value,
        strict: bool,
    },
    /// The provider's own tool for a screen of this size; for providers that have none, a function of
    /// the same actions.
    Computer { width: u32, height: u32 },
    /// A tool of one provider, in its own form.
    Own { wire: Wire, value: Value },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
    Named(String),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Output {
    #[default]
    Text,
    /// JSON that obeys a schema, which the provider enforces where it can.
    Json { name: String, schema: Value },
}

/// `None`: as the configuration says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub top_k: Option<u64>,
    pub seed: Option<i64>,
    pub max_tokens: Option<u64>,
    pub stop: Vec<String>,
    pub reasoning_effort: Option<String>,
}
