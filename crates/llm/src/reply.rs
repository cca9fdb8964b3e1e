//! A model's answer in the one form, with the provider's own beside it.

use agon_core::Usage;
use serde_json::Value;

use crate::message::{Part, ToolCall};

#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub parts: Vec<Part>,
    pub stop: Stop,
    /// Tokens as the provider counted them; money is filled in by the price list.
    pub usage: Usage,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// The body as it came.
    pub raw: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    End,
    /// It ran into its limit of tokens: the answer is cut.
    MaxTokens,
    ToolCalls,
    StopWord,
    Other(String),
}

impl Reply {
    /// All text, in order.
    pub fn text(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(text).collect()
    }

    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}
