//! One event: an action or an observation, with its number, its time and what it came from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::Action;
use super::observation::Observation;
use crate::metrics::Metrics;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSource {
    Agent,
    User,
    Environment,
}

/// The model's tool call that an action was made from. Its observation carries the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallMetadata {
    pub function_name: String,
    pub tool_call_id: String,
    /// The whole answer of the model.
    pub model_response: Value,
    pub total_calls_in_response: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    Action(Action),
    Observation(Observation),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Counted from 0; none before it is part of a history.
    pub id: Option<u64>,
    /// ISO 8601 without a zone.
    pub timestamp: Option<String>,
    pub source: Option<EventSource>,
    /// The action that this answers.
    pub cause: Option<u64>,
    pub tool_call_metadata: Option<ToolCallMetadata>,
    pub llm_metrics: Option<Metrics>,
    pub body: EventBody,
}

impl Event {
    pub fn new(source: EventSource, body: impl Into<EventBody>) -> Self {
        Self {
            id: None,
            timestamp: None,
            source: Some(source),
            cause: None,
            tool_call_metadata: None,
            llm_metrics: None,
            body: body.into(),
        }
    }

    pub const fn action(&self) -> Option<&Action> {
        match &self.body {
            EventBody::Action(action) => Some(action),
            EventBody::Observation(_) => None,
        }
    }

    pub const fn observation(&self) -> Option<&Observation> {
        match &self.body {
            EventBody::Observation(observation) => Some(observation),
            EventBody::Action(_) => None,
        }
    }

    /// A message's words, if it is one that this source said.
    pub fn words_of(&self, source: EventSource) -> Option<&str> {
        match &self.body {
            EventBody::Action(Action::Message(message)) if self.source == Some(source) => {
                Some(&message.content)
            }
            _ => None,
        }
    }
}

impl From<Action> for EventBody {
    fn from(action: Action) -> Self {
        Self::Action(action)
    }
}

impl From<Observation> for EventBody {
    fn from(observation: Observation) -> Self {
        Self::Observation(observation)
    }
}
