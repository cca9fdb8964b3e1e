//! How much a model is to think, as `thinkingConfig`.
//!
//! | effort | `thinkingBudget` (2.5) | `thinkingLevel` (from 3) |
//! |---|---|---|
//! | `none` | 0, or 128 where it can't be 0 | `minimal`, or `low` where it is not known |
//! | `minimal` | 1,024 | `minimal`, or `low` |
//! | `low` | 1,024 | `low` |
//! | `medium` | 8,192 | `medium` |
//! | `high`, `xhigh`, `max` | 24,576 | `high` |

use serde_json::{Value, json};

use super::traits::Traits;

pub(super) fn config(effort: Option<&str>, traits: Traits) -> Option<Value> {
    let effort = effort?.to_ascii_lowercase();
    if effort.is_empty() || !traits.thinks() {
        return None;
    }
    let none = matches!(effort.as_str(), "none" | "off" | "disabled");
    if traits.thinks_by_level() {
        let level = match effort.as_str() {
            _ if none && traits.can_stop_thinking() => "minimal",
            "minimal" if traits.can_stop_thinking() => "minimal",
            _ if none => "low",
            "minimal" | "low" => "low",
            "medium" => "medium",
            _ => "high",
        };
        return Some(json!({"thinkingLevel": level, "includeThoughts": !none}));
    }
    let budget = match effort.as_str() {
        _ if none && traits.can_stop_thinking() => 0,
        _ if none => 128,
        "minimal" | "low" => 1_024,
        "medium" => 8_192,
        _ => 24_576,
    };
    Some(json!({"thinkingBudget": budget, "includeThoughts": !none}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_are_budgets_or_levels() {
        for (model, effort, expected) in [
            ("gemini-2.0-flash", Some("high"), None),
            ("gemini-2.5-flash", None, None),
            (
                "gemini-2.5-flash",
                Some("none"),
                Some(json!({"thinkingBudget": 0, "includeThoughts": false})),
            ),
            (
                "gemini-2.5-pro",
                Some("none"),
                Some(json!({"thinkingBudget": 128, "includeThoughts": false})),
            ),
            (
                "gemini-2.5-pro",
                Some("high"),
                Some(json!({"thinkingBudget": 24_576, "includeThoughts": true})),
            ),
            (
                "gemini-3.5-flash",
                Some("none"),
                Some(json!({"thinkingLevel": "minimal", "includeThoughts": false})),
            ),
            (
                "gemini-3-pro-preview",
                Some("minimal"),
                Some(json!({"thinkingLevel": "low", "includeThoughts": true})),
            ),
            (
                "gemini-3.5-flash",
                Some("max"),
                Some(json!({"thinkingLevel": "high", "includeThoughts": true})),
            ),
        ] {
            assert_eq!(
                config(effort, Traits::of(model)),
                expected,
                "{model} {effort:?}"
            );
        }
    }
}
