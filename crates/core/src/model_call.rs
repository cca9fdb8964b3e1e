//! One call of a language model, as it is recorded: what it cost, how it ended, and what was said. Knows
//! no provider.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::usage::Usage;

/// Why a model gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelFault {
    /// The key is missing, wrong or may not use this model.
    Authentication,
    /// Too many calls; also when the provider's quota is used up.
    RateLimit,
    /// The service has no room at the moment, or broke down.
    Overload,
    /// The request is longer than the model can read.
    ContextOverflow,
    /// The provider refuses to answer such a request.
    Refusal,
    /// The service does not take this request: an unknown model, a parameter it does not have.
    BadRequest,
    /// What came back is no answer.
    BrokenResponse,
    /// The model's own failure: it did not obey the schema, or called a function in a way that is no call.
    BadAnswer,
    /// The service can't be reached, or hung up.
    Network,
    /// No answer, or no further part of it, in time.
    Timeout,
    /// No tape has an answer to this request.
    NotOnTape,
    /// Tokens or money of the trial or the run are used up: nothing was sent.
    Budget,
    /// The model is not set up, or not on this machine.
    Setup,
    /// Whoever asked did not wait for the answer. What the service did with it nobody knows.
    Cancelled,
}

impl ModelFault {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::RateLimit => "rate_limit",
            Self::Overload => "overload",
            Self::ContextOverflow => "context_overflow",
            Self::Refusal => "refusal",
            Self::BadRequest => "bad_request",
            Self::BrokenResponse => "broken_response",
            Self::BadAnswer => "bad_answer",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::NotOnTape => "not_on_tape",
            Self::Budget => "budget",
            Self::Setup => "setup",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether asking again may help.
    pub const fn passing(self) -> bool {
        matches!(
            self,
            Self::RateLimit | Self::Overload | Self::BrokenResponse | Self::Network | Self::Timeout
        )
    }

    /// Whether it is the service that failed, or our way to it, and not the request or its length. Only
    /// this can make a fault of a trial.
    pub const fn of_service(self) -> bool {
        self.passing() || matches!(self, Self::Authentication | Self::NotOnTape | Self::Setup)
    }
}

impl fmt::Display for ModelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// For whom a model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The agent that is evaluated.
    #[default]
    Agent,
    /// The agent's own client, through the gateway.
    Gateway,
    /// A judge of what the agent did.
    Judge,
    /// Somebody who plays the user.
    User,
}

/// What was sent or came back: here if it is short, otherwise by content hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Said {
    Blob { blob: Digest, bytes: u64 },
    Here(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCall {
    /// As it was asked for: the name of a section, or `openai/gpt-4o`.
    pub model: String,
    pub purpose: Purpose,
    /// From the first try to the answer, waiting included.
    pub seconds: f64,
    /// Requests that were sent; 0 if it came from a tape or was never sent.
    pub tries: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taped: bool,
    #[serde(default, skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// The body as sent, without any key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Said>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Said>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<ModelFault>,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
