//! What a whole answer says about its price, beside the number of tokens.

use serde_json::Value;

/// Words for what everybody pays.
const USUAL: [&str; 7] = [
    "",
    "auto",
    "default",
    "standard",
    "on_demand",
    "global",
    "not_available",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bill {
    /// Not of a tier, a region or a speed with a price of its own.
    pub(crate) usual: bool,
    /// Tokens that were put into the cache for an hour, which costs more than for five minutes. They are
    /// among those that were put there at all.
    pub(crate) kept_long: u64,
}

impl Bill {
    pub(crate) fn of(body: &Value) -> Self {
        let usage = &body["usage"];
        let named = [
            &body["service_tier"],
            &usage["service_tier"],
            &usage["inference_geo"],
            &usage["speed"],
        ];
        let usual = |name: &&Value| match name {
            Value::Null => true,
            name => name.as_str().is_some_and(|name| USUAL.contains(&name)),
        };
        Self {
            usual: named.iter().all(usual),
            kept_long: usage["cache_creation"]["ephemeral_1h_input_tokens"]
                .as_u64()
                .unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tiers_regions_and_speeds_are_told_apart() {
        for (body, usual) in [
            (json!({"usage": {"input_tokens": 7}}), true),
            (json!({"service_tier": null}), true),
            (json!({"service_tier": "default"}), true),
            (json!({"service_tier": "priority"}), false),
            (json!({"service_tier": {"x": 1}}), false),
            (
                json!({"usage": {"service_tier": "standard", "inference_geo": "not_available"}}),
                true,
            ),
            (json!({"usage": {"service_tier": "batch"}}), false),
            (json!({"usage": {"inference_geo": "us"}}), false),
            (json!({"usage": {"speed": "fast"}}), false),
            (json!("x"), true),
        ] {
            assert_eq!(Bill::of(&body).usual, usual, "{body}");
        }
        let body = json!({"usage": {"cache_creation": {"ephemeral_1h_input_tokens": 7}}});
        assert_eq!(Bill::of(&body).kept_long, 7);
    }
}
