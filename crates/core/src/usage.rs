//! What a trial used: tokens, money, and time split by who spent it.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::Money;

/// Model usage. Tokens are counted once: cached ones are part of the input, reasoning is part of the
/// output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// All input, from a cache or not.
    #[serde(default)]
    pub input_tokens: u64,
    /// All output, reasoning included.
    #[serde(default)]
    pub output_tokens: u64,
    /// The part of the input that the provider had in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// The part of the input that was put into its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The part of the output that nobody sees.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Calls that were answered; 0 where they were not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Micro-dollars of all calls whose price is known; `None`: of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// Calls whose price is not known: with any of these, `money` is a lower bound.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_calls: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is left of it without a part of it.
    pub fn without(&self, part: &Self) -> Self {
        let money = |all: Money| all.less(part.money.unwrap_or_default());
        Self {
            input_tokens: self.input_tokens.saturating_sub(part.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(part.output_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(part.cached_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_sub(part.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_sub(part.reasoning_tokens),
            calls: self.calls.saturating_sub(part.calls),
            money: self.money.map(money),
            unpriced_calls: self.unpriced_calls.saturating_sub(part.unpriced_calls),
        }
    }
}

impl AddAssign<&Self> for Usage {
    fn add_assign(&mut self, other: &Self) {
        let counts = [
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.cache_write_tokens, other.cache_write_tokens),
            (&mut self.reasoning_tokens, other.reasoning_tokens),
            (&mut self.calls, other.calls),
            (&mut self.unpriced_calls, other.unpriced_calls),
        ];
        for (sum, more) in counts {
            *sum = sum.saturating_add(more);
        }
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
