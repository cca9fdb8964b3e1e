//! Metrics from the record of a trial.

use std::collections::BTreeMap;

use agon_core::{EventBody, ModelCall, Money, Purpose, Usage};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::shape::{Cost, Metrics, ResponseLatency, TokenUsage};
use crate::dialect::Record;

const PICOS_PER_DOLLAR: f64 = 1e12;

/// Whether a call is the agent's own, and not a judge's or a user's.
pub const fn is_of_agent(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Agent | Purpose::Gateway)
}

impl Metrics {
    /// What the agent's models cost in a trial.
    pub fn of(record: &Record<'_>, budget: Option<Money>) -> Self {
        Self::sum(record, is_of_agent).of_trial(record, budget)
    }

    /// With what only the whole record tells; `self` are the agent's calls.
    pub(crate) fn of_trial(mut self, record: &Record<'_>, budget: Option<Money>) -> Self {
        self.max_budget_per_task = budget.map(dollars);
        if self.token_usages.is_empty() {
            self.reported(record);
        }
        self
    }

    /// By who asked: `agent`, and where there are any `user` and `judge`.
    pub(crate) fn by_service(record: &Record<'_>, agent: &Self) -> BTreeMap<String, Self> {
        let others = [("judge", Purpose::Judge), ("user", Purpose::User)];
        let others = others.map(|(name, purpose)| (name, Self::sum(record, |p| p == purpose)));
        let others = others
            .into_iter()
            .filter(|(_, metrics)| !metrics.token_usages.is_empty());
        let mut services: BTreeMap<String, Self> = others
            .map(|(name, metrics)| (name.to_owned(), metrics))
            .collect();
        services.insert("agent".to_owned(), agent.clone());
        services
    }

    fn sum(record: &Record<'_>, of: impl Fn(Purpose) -> bool) -> Self {
        let mut metrics = Self::default();
        for event in record.events {
            if let EventBody::Model(call) = &event.body
                && of(call.purpose)
            {
                let response = call.response.as_ref();
                let response = response.and_then(|said| record.bodies.said(said));
                metrics.add_call(record.model_of(call), call, event.at, response.as_ref());
            }
        }
        metrics
    }

    /// What an agent says of itself, where nobody saw it ask.
    fn reported(&mut self, record: &Record<'_>) {
        for event in record.events {
            if let EventBody::Usage(usage) = &event.body {
                self.add_usage("default", usage, event.at, "");
            }
        }
    }

    /// One call of `model`. One that failed counts only for what it used all the same.
    pub fn add_call(
        &mut self,
        model: &str,
        call: &ModelCall,
        at: Timestamp,
        response: Option<&Value>,
    ) {
        let id = response.and_then(|body| body.get("id")?.as_str());
        let id = id.unwrap_or_default();
        if call.fault.is_none() {
            self.response_latencies.push(ResponseLatency {
                model: model.to_owned(),
                latency: call.seconds,
                response_id: id.to_owned(),
            });
        } else if call.usage.is_empty() {
            return;
        }
        self.add_usage(model, &call.usage, at, id);
    }

    fn add_usage(&mut self, model: &str, usage: &Usage, at: Timestamp, id: &str) {
        let used = TokenUsage {
            model: model.to_owned(),
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            cache_read_tokens: usage.cached_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            context_window: 0,
            per_turn_token: usage.tokens(),
            response_id: id.to_owned(),
        };
        let only = self.token_usages.iter().all(|before| before.model == model);
        let sum = &mut self.accumulated_token_usage;
        sum.add(&used);
        model.clone_into(&mut sum.model);
        if !only {
            "default".clone_into(&mut sum.model);
        }
        self.token_usages.push(used);
        if let Some(money) = usage.money {
            let cost = dollars(money);
            // Exact to the last decimal that money has, however many are summed.
            self.accumulated_cost = rounded(self.accumulated_cost + cost);
            self.costs.push(Cost {
                model: model.to_owned(),
                cost,
                timestamp: crate::dialect::epoch(at),
            });
        }
    }

    /// With what was condensed, as result files have it.
    #[must_use]
    pub fn with_condenser(mut self, record: &Record<'_>) -> Self {
        let condensed = record.events.iter().filter_map(|event| match &event.body {
            EventBody::Condensed(condensed) => Some(json!({
                "from_step": condensed.from,
                "to_step": condensed.to,
                "summary": condensed.summary,
            })),
            _ => None,
        });
        self.condenser = Some(condensed.collect());
        self
    }
}

fn rounded(dollars: f64) -> f64 {
    (dollars * PICOS_PER_DOLLAR).round() / PICOS_PER_DOLLAR
}

pub(crate) fn dollars(money: Money) -> f64 {
    money.picos() as f64 / PICOS_PER_DOLLAR
}
