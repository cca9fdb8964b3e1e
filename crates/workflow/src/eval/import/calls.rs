//! What an old row's metrics tell of the calls of models: lists, sums, or some of both.

use agon_core::{EventBody, ModelCall, Money, Purpose, Source, Usage};

use crate::dialect::Writer;
use crate::events::{Action, Event};
use crate::metrics::{Metrics, TokenUsage};

/// Tokens, seconds and dollars.
type Call = (TokenUsage, f64, Option<f64>);

/// Sums of fractions of a cent are the same up to here.
const ROUNDING: f64 = 1e-9;

/// The calls of models that a row's metrics tell of, each put before the action that it led to.
#[derive(Debug)]
pub(super) struct Calls {
    left: std::vec::IntoIter<Call>,
    response: Option<String>,
    pub(super) usage: Usage,
}

impl Calls {
    pub(super) fn of(metrics: &Metrics) -> Self {
        let (used, costs) = (&metrics.token_usages, &metrics.costs);
        let calls = match used.len().max(costs.len()) {
            0 => usize::from(*metrics != Metrics::default()),
            calls => calls,
        };
        let latencies = &metrics.response_latencies;
        let one = |at: usize| {
            let used = used.get(at).cloned().unwrap_or_default();
            let latency = latencies.get(at).map_or(0.0, |call| call.latency);
            (used, latency, costs.get(at).map(|cost| cost.cost))
        };
        let mut calls: Vec<Call> = (0..calls).map(one).collect();
        top_up(&mut calls, metrics);
        Self {
            left: calls.into_iter(),
            response: None,
            usage: Usage::default(),
        }
    }

    /// Several actions of one answer cost one call.
    pub(super) fn before(&mut self, writer: &mut Writer, event: &Event) {
        let metadata = event.tool_call_metadata.as_ref();
        let response = metadata.and_then(|metadata| metadata.model_response.get("id")?.as_str());
        if response.is_some() && response == self.response.as_deref() {
            return;
        }
        self.response = response.map(str::to_owned);
        if !matches!(event.action(), Some(Action::System(_))) {
            self.next(writer);
        }
    }

    pub(super) fn rest(&mut self, writer: &mut Writer) {
        while self.next(writer) {}
    }

    fn next(&mut self, writer: &mut Writer) -> bool {
        let Some((used, latency, cost)) = self.left.next() else {
            return false;
        };
        let cost = cost.filter(|cost| cost.is_finite() && *cost >= 0.0);
        let usage = Usage {
            input_tokens: used.prompt_tokens,
            output_tokens: used.completion_tokens,
            cached_tokens: used.cache_read_tokens,
            cache_write_tokens: used.cache_write_tokens,
            calls: 1,
            money: cost.map(|cost| Money::from_picos((cost * 1e12).round() as u64)),
            unpriced_calls: u64::from(cost.is_none()),
            ..Usage::default()
        };
        self.usage += &usage;
        let call = ModelCall {
            model: used.model,
            purpose: Purpose::Agent,
            seconds: latency,
            tries: 1,
            taped: false,
            usage,
            request: None,
            response: None,
            fault: None,
            why: None,
        };
        writer.push(Source::Agent, None, EventBody::Model(call));
        true
    }
}

/// Older files have money without tokens, or only their sums. What the sums have more than the lists is the
/// last call's.
fn top_up(calls: &mut [Call], metrics: &Metrics) {
    let listed = calls.iter().fold(TokenUsage::default(), |mut sum, call| {
        sum.add(&call.0);
        sum
    });
    let priced: f64 = calls.iter().filter_map(|call| call.2).sum();
    let money = metrics.accumulated_cost - priced;
    if money > ROUNDING {
        // What the list has no price for is in the sum.
        for (.., cost) in &mut *calls {
            cost.get_or_insert(0.0);
        }
    }
    let Some((last, _, cost)) = calls.last_mut() else {
        return;
    };
    if money > ROUNDING {
        *cost = Some(cost.unwrap_or(0.0) + money);
    }
    let sum = &metrics.accumulated_token_usage;
    let fields = [
        (
            &mut last.prompt_tokens,
            sum.prompt_tokens,
            listed.prompt_tokens,
        ),
        (
            &mut last.completion_tokens,
            sum.completion_tokens,
            listed.completion_tokens,
        ),
        (
            &mut last.cache_read_tokens,
            sum.cache_read_tokens,
            listed.cache_read_tokens,
        ),
        (
            &mut last.cache_write_tokens,
            sum.cache_write_tokens,
            listed.cache_write_tokens,
        ),
    ];
    for (tokens, sum, listed) in fields {
        *tokens = tokens.saturating_add(sum.saturating_sub(listed));
    }
    if last.model.is_empty() {
        last.model.clone_from(&sum.model);
    }
}
