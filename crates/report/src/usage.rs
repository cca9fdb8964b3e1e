//! Tokens, calls and money of many attempts. What nobody knows stays unknown: it is never shown as 0.

use agon_core::{Money, Usage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::count;

/// Tokens and money of every attempt. What nobody reported is null, never 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsageTotal {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// Of the input, from the provider's cache; as the next three, of calls that Agon made or saw.
    pub cached_tokens: Option<u64>,
    /// Of the input, put into its cache.
    pub cache_write_tokens: Option<u64>,
    /// Of the output, what nobody sees.
    pub reasoning_tokens: Option<u64>,
    /// Calls that were answered.
    pub calls: Option<u64>,
    /// Micro-dollars: the sum of the known prices.
    pub money: Option<Money>,
    /// Attempts that reported usage.
    pub reported: u64,
    /// Attempts that reported tokens but have no price: `money` is a lower bound if there are any.
    pub unpriced: u64,
    /// Calls whose price is not known: `money` is a lower bound if there are any.
    pub unpriced_calls: u64,
    /// Of the unpriced attempts, those that do not even count their calls.
    #[serde(skip)]
    uncounted: u64,
}

/// What one task used, over all its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskUsage {
    pub task: String,
    pub usage: UsageTotal,
}

impl UsageTotal {
    pub(crate) fn of(usage: &Usage) -> Self {
        let mut total = Self::default();
        total.add(usage);
        total
    }

    pub(crate) fn add(&mut self, usage: &Usage) {
        if usage.is_empty() {
            return;
        }
        self.reported += 1;
        let plus = |sum: &mut Option<u64>, more: u64| {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        };
        plus(&mut self.input_tokens, usage.input_tokens);
        plus(&mut self.output_tokens, usage.output_tokens);
        // An agent that reports by itself says nothing of these.
        if usage.calls > 0 {
            plus(&mut self.cached_tokens, usage.cached_tokens);
            plus(&mut self.cache_write_tokens, usage.cache_write_tokens);
            plus(&mut self.reasoning_tokens, usage.reasoning_tokens);
            plus(&mut self.calls, usage.calls);
        }
        self.unpriced_calls = self.unpriced_calls.saturating_add(usage.unpriced_calls);
        match usage.money {
            Some(money) => self.money = Some(self.money.unwrap_or_default() + money),
            None => {
                self.unpriced += 1;
                self.uncounted += u64::from(usage.unpriced_calls == 0);
            }
        }
    }

    /// `12,000 in (800 cached), 345 out (40 reasoning), 12 calls`.
    pub fn tokens_text(&self) -> String {
        let (Some(input), Some(output)) = (self.input_tokens, self.output_tokens) else {
            return "unknown".to_owned();
        };
        let part = |tokens: Option<u64>, name: &str| match tokens {
            Some(tokens @ 1..) => format!(" ({} {name})", count(tokens)),
            _ => String::new(),
        };
        let calls = self
            .calls
            .map_or_else(String::new, |calls| format!(", {}", counted(calls, "call")));
        format!(
            "{} in{}, {} out{}{calls}",
            count(input),
            part(self.cached_tokens, "cached"),
            count(output),
            part(self.reasoning_tokens, "reasoning")
        )
    }

    pub fn money_text(&self) -> String {
        let mut unknown = Vec::new();
        if self.unpriced_calls > 0 {
            unknown.push(counted(self.unpriced_calls, "call"));
        }
        if self.uncounted > 0 {
            unknown.push(counted(self.uncounted, "attempt"));
        }
        match (self.money, unknown.is_empty()) {
            (None, _) => "unknown".to_owned(),
            (Some(money), true) => money.to_string(),
            (Some(money), false) => {
                format!(
                    ">= {money} ({} without a known price)",
                    unknown.join(" and ")
                )
            }
        }
    }
}

/// `1 call`, `1,200 calls`.
fn counted(number: u64, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {name}{plural}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(money: Option<u64>) -> Usage {
        Usage {
            input_tokens: 1000,
            output_tokens: 100,
            cached_tokens: 400,
            reasoning_tokens: 60,
            calls: 1,
            money: money.map(Money::from_micros),
            unpriced_calls: u64::from(money.is_none()),
            ..Usage::default()
        }
    }

    fn texts(usages: &[Usage]) -> (String, String) {
        let mut total = UsageTotal::default();
        for usage in usages {
            total.add(usage);
        }
        (total.tokens_text(), total.money_text())
    }

    #[test]
    fn what_nobody_knows_is_not_nothing() {
        let unknown = ("unknown".to_owned(), "unknown".to_owned());
        assert_eq!(texts(&[]), unknown);
        assert_eq!(texts(&[Usage::default()]), unknown);
        let (tokens, money) = texts(&[call(None)]);
        assert_eq!(
            tokens,
            "1,000 in (400 cached), 100 out (60 reasoning), 1 call"
        );
        assert_eq!(money, "unknown");
        let reported = Usage {
            input_tokens: 5,
            ..Usage::default()
        };
        assert_eq!(texts(std::slice::from_ref(&reported)).0, "5 in, 0 out");
        let mixed = [call(Some(1_500_000)), call(None), call(None), reported];
        assert_eq!(
            texts(&mixed).1,
            ">= $1.50 (2 calls and 1 attempt without a known price)"
        );
        assert_eq!(texts(&[call(Some(0))]).1, "$0.00");
    }

    #[test]
    fn a_lower_bound_says_so() {
        let mut both = call(Some(2_000_000));
        both += &call(None);
        let (tokens, money) = texts(&[both]);
        assert!(tokens.ends_with("2 calls"), "{tokens}");
        assert_eq!(money, ">= $2.00 (1 call without a known price)");
    }
}
