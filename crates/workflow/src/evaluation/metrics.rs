//! What an instance cost: the turn that its row tells of, and the tries before it that came to nothing.

use agon_core::{Clock, SystemClock, Usage};
use serde_json::Value;

use crate::controller::CONDENSED;
use crate::dialect::epoch;
use crate::metrics::{Cost, Metrics, TokenUsage, dollars};
use crate::state::State;

/// As the original calls a sum over models.
const ANY_MODEL: &str = "default";

/// What a row tells of an agent's turn: its calls, and what of its history was condensed.
pub fn get_metrics(state: &State) -> Metrics {
    let condensed = state.extra_data.get(CONDENSED).and_then(Value::as_array);
    Metrics {
        condenser: Some(condensed.cloned().unwrap_or_default()),
        ..state.metrics.clone()
    }
}

/// Tries that came to nothing: their calls were paid for all the same. Each is one entry, since what was
/// said is not kept.
#[derive(Debug, Default)]
pub(super) struct Lost(Metrics);

impl Lost {
    pub(super) fn add(&mut self, spent: &Usage) {
        if spent.is_empty() {
            return;
        }
        let used = TokenUsage {
            model: ANY_MODEL.to_owned(),
            prompt_tokens: spent.input_tokens,
            completion_tokens: spent.output_tokens,
            cache_read_tokens: spent.cached_tokens,
            cache_write_tokens: spent.cache_write_tokens,
            per_turn_token: spent.tokens(),
            ..TokenUsage::default()
        };
        self.0.accumulated_token_usage.add(&used);
        self.0.token_usages.push(used);
        if let Some(money) = spent.money {
            let cost = dollars(money);
            self.0.accumulated_cost = exact(self.0.accumulated_cost + cost);
            self.0.costs.push(Cost {
                model: ANY_MODEL.to_owned(),
                cost,
                timestamp: epoch(SystemClock::default().now()),
            });
        }
    }

    /// Together with the try that came to a row; `None` where nothing is known of either.
    pub(super) fn and(self, row: Option<Metrics>) -> Option<Metrics> {
        let Self(mut sum) = self;
        if sum.token_usages.is_empty() {
            return row;
        }
        let Some(row) = row else {
            return Some(sum);
        };
        sum.accumulated_token_usage
            .add(&row.accumulated_token_usage);
        sum.costs.extend(row.costs);
        sum.token_usages.extend(row.token_usages);
        Some(Metrics {
            accumulated_cost: exact(sum.accumulated_cost + row.accumulated_cost),
            accumulated_token_usage: TokenUsage {
                model: row.accumulated_token_usage.model,
                ..sum.accumulated_token_usage
            },
            costs: sum.costs,
            token_usages: sum.token_usages,
            max_budget_per_task: row.max_budget_per_task,
            response_latencies: row.response_latencies,
            condenser: row.condenser,
        })
    }
}

/// To the last decimal that money has.
fn exact(dollars: f64) -> f64 {
    (dollars * 1e12).round() / 1e12
}
