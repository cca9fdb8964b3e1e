//! The JSON of metrics: sums, and one entry per answer of a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The model of a sum over several.
const ANY_MODEL: &str = "default";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    #[serde(default)]
    pub accumulated_cost: f64,
    #[serde(default)]
    pub max_budget_per_task: Option<f64>,
    #[serde(default)]
    pub accumulated_token_usage: TokenUsage,
    #[serde(default)]
    pub costs: Vec<Cost>,
    #[serde(default)]
    pub response_latencies: Vec<ResponseLatency>,
    #[serde(default)]
    pub token_usages: Vec<TokenUsage>,
    /// What was condensed; in result files only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condenser: Option<Vec<Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    #[serde(default)]
    pub model: String,
    pub cost: f64,
    /// Seconds since 1970.
    #[serde(default)]
    pub timestamp: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseLatency {
    #[serde(default)]
    pub model: String,
    pub latency: f64,
    #[serde(default)]
    pub response_id: String,
}

/// All input counts as prompt, whether it came from a cache or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    pub model: String,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub context_window: u64,
    pub per_turn_token: u64,
    pub response_id: String,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            accumulated_cost: 0.0,
            max_budget_per_task: None,
            accumulated_token_usage: TokenUsage {
                model: ANY_MODEL.to_owned(),
                ..TokenUsage::default()
            },
            costs: Vec::new(),
            response_latencies: Vec::new(),
            token_usages: Vec::new(),
            condenser: None,
        }
    }
}

impl TokenUsage {
    /// Tokens are summed; the widest window and the last turn are kept.
    pub fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.prompt_tokens, other.prompt_tokens),
            (&mut self.completion_tokens, other.completion_tokens),
            (&mut self.cache_read_tokens, other.cache_read_tokens),
            (&mut self.cache_write_tokens, other.cache_write_tokens),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        self.context_window = self.context_window.max(other.context_window);
        self.per_turn_token = other.per_turn_token;
    }
}

impl Metrics {
    /// As much as can be read, and what can't be. A null is nothing.
    pub(crate) fn read_leniently(value: Option<&Value>) -> (Self, Vec<String>) {
        let mut fields = match value {
            None => return (Self::default(), Vec::new()),
            Some(Value::Object(fields)) => fields.clone(),
            Some(_) => return (Self::default(), vec!["it is no object".to_owned()]),
        };
        fields.retain(|_, value| !value.is_null());
        let mut unread = Vec::new();
        fields.retain(|key, value| {
            let alone = Value::from_iter([(key.clone(), value.clone())]);
            let read = serde_json::from_value::<Self>(alone);
            unread.extend(read.as_ref().err().map(|error| format!("{key} ({error})")));
            read.is_ok()
        });
        let read = serde_json::from_value(fields.into());
        (read.unwrap_or_default(), unread)
    }

    /// Without the entries per answer: what an action carries.
    pub fn snapshot(&self) -> Self {
        Self {
            accumulated_cost: self.accumulated_cost,
            max_budget_per_task: self.max_budget_per_task,
            accumulated_token_usage: self.accumulated_token_usage.clone(),
            ..Self::default()
        }
    }
}
