//! What a trial used: tokens, money, and time split by who spent it.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::Money;

/// Model usage as reported; `money` is `None` when no price is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    #[serde(default)]
    pub input_tokens: u64,
    #[serde(default)]
    pub output_tokens: u64,
    /// Micro-dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

impl Usage {
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl AddAssign<&Self> for Usage {
    fn add_assign(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.money = match (self.money, other.money) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

/// Seconds of a trial by who spent them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSplit {
    /// Waiting for the agent's answer.
    pub agent: f64,
    /// Starting the environment, set-up, carrying out actions.
    pub environment: f64,
    /// Everything else: recording, freezing, grading.
    pub harness: f64,
}

impl TimeSplit {
    pub fn total(&self) -> f64 {
        self.agent + self.environment + self.harness
    }
}

impl AddAssign for TimeSplit {
    fn add_assign(&mut self, other: Self) {
        self.agent += other.agent;
        self.environment += other.environment;
        self.harness += other.harness;
    }
}
