//! How much a model is to think: the one word of a request as the `thinking` and `effort` of this API.
//!
//! | effort | budget (up to 4.5) | `output_config.effort` (from 4.6) |
//! |---|---|---|
//! | `none` | no thinking | no thinking where the model can do without, else `low` |
//! | `minimal`, `low` | 1,024 | `low` |
//! | `medium` | 2,048 | `medium` |
//! | `high` | 4,096 | `high` |
//! | `xhigh` | 8,192 | `xhigh`, or `high` where it is not known |
//! | `max` | 16,384 | `max` |

use serde_json::{Value, json};

use super::traits::Traits;

/// What stands in the body.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Thinking {
    pub(super) thinking: Option<Value>,
    pub(super) effort: Option<String>,
    /// Tokens that `max_tokens` has to hold beside the answer.
    pub(super) budget: u64,
}

impl Thinking {
    /// `forced`: a tool has to be used, which goes with thinking on no model.
    pub(super) fn of(effort: Option<&str>, forced: bool, traits: Traits) -> Self {
        let asked = effort.map(str::to_ascii_lowercase);
        let asked = asked.as_deref().filter(|effort| !effort.is_empty());
        let none = matches!(asked, Some("none" | "off" | "disabled"));
        if !traits.thinks_adaptively() {
            return match asked {
                Some(effort) if !none && !forced => Self::within(budget(effort)),
                _ => Self::default(),
            };
        }
        let off = none || forced;
        let effort = asked
            .filter(|_| !none)
            .map(|effort| level(effort, off, traits));
        let thinking = match (off, asked) {
            (true, _) if traits.thinks_unasked() && traits.can_stop_thinking() => {
                Some(json!({"type": "disabled"}))
            }
            (true, _) | (_, None) => None,
            (false, Some(_)) => Some(json!({"type": "adaptive"})),
        };
        let cannot_stop = none && !traits.can_stop_thinking();
        Self {
            thinking,
            effort: effort.or_else(|| cannot_stop.then(|| "low".to_owned())),
            budget: 0,
        }
    }

    fn within(budget: u64) -> Self {
        Self {
            thinking: Some(json!({"type": "enabled", "budget_tokens": budget})),
            effort: None,
            budget,
        }
    }

    /// Whether it is known that the model will think, which fixes how it samples.
    pub(super) fn is_on(&self) -> bool {
        let kind = self.thinking.as_ref().map(|thinking| &thinking["type"]);
        kind.is_some_and(|kind| kind != "disabled")
    }
}

fn budget(effort: &str) -> u64 {
    match effort {
        "minimal" | "low" => 1_024,
        "high" => 4_096,
        "xhigh" => 8_192,
        "max" => 16_384,
        _ => 2_048,
    }
}

fn level(effort: &str, off: bool, traits: Traits) -> String {
    let level = match effort {
        "minimal" => "low",
        // Without thinking there is nothing above.
        "xhigh" | "max" if off => "high",
        "xhigh" if !traits.knows_xhigh() => "high",
        other => other,
    };
    level.to_owned()
}

/// The other way: the word for a body of this API.
pub(super) fn effort_of(body: &Value) -> Option<String> {
    if let Some(effort) = body["output_config"]["effort"].as_str() {
        return Some(effort.to_owned());
    }
    let thinking = &body["thinking"];
    let effort = match thinking["type"].as_str()? {
        "disabled" => "none",
        "enabled" => match thinking["budget_tokens"].as_u64()? {
            0..=1_535 => "low",
            1_536..=3_071 => "medium",
            _ => "high",
        },
        _ => return None,
    };
    Some(effort.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        model: &str,
        effort: Option<&str>,
        forced: bool,
    ) -> (Option<String>, Option<String>, u64) {
        let thinking = Thinking::of(effort, forced, Traits::of(model));
        let kind = thinking
            .thinking
            .as_ref()
            .map(|thinking| thinking["type"].to_string());
        (
            kind.map(|kind| kind.replace('"', "")),
            thinking.effort,
            thinking.budget,
        )
    }

    #[test]
    fn older_models_get_a_budget_and_newer_ones_an_effort() {
        let text = |text: &str| Some(text.to_owned());
        for (model, effort, forced, expected) in [
            ("claude-sonnet-4-5", None, false, (None, None, 0)),
            (
                "claude-sonnet-4-5",
                Some("low"),
                false,
                (text("enabled"), None, 1_024),
            ),
            (
                "claude-sonnet-4-5",
                Some("High"),
                false,
                (text("enabled"), None, 4_096),
            ),
            ("claude-sonnet-4-5", Some("none"), false, (None, None, 0)),
            ("claude-sonnet-4-5", Some("high"), true, (None, None, 0)),
            (
                "claude-opus-4-6",
                Some("medium"),
                false,
                (text("adaptive"), text("medium"), 0),
            ),
            (
                "claude-opus-4-6",
                Some("xhigh"),
                false,
                (text("adaptive"), text("high"), 0),
            ),
            ("claude-opus-4-6", Some("none"), false, (None, None, 0)),
            ("claude-opus-5", None, false, (None, None, 0)),
            (
                "claude-opus-5",
                Some("none"),
                false,
                (text("disabled"), None, 0),
            ),
            (
                "claude-opus-5",
                Some("max"),
                true,
                (text("disabled"), text("high"), 0),
            ),
            (
                "claude-opus-5-5",
                Some("xhigh"),
                false,
                (text("adaptive"), text("xhigh"), 0),
            ),
            (
                "claude-opus-5-5",
                Some("none"),
                false,
                (None, text("low"), 0),
            ),
        ] {
            assert_eq!(
                of(model, effort, forced),
                expected,
                "{model} {effort:?} {forced}"
            );
        }
    }

    #[test]
    fn efforts_are_read_back() {
        for (body, expected) in [
            (json!({}), None),
            (json!({"output_config": {"effort": "max"}}), Some("max")),
            (
                json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
                Some("low"),
            ),
            (
                json!({"thinking": {"type": "enabled", "budget_tokens": 9999}}),
                Some("high"),
            ),
            (json!({"thinking": {"type": "disabled"}}), Some("none")),
            (json!({"thinking": {"type": "adaptive"}}), None),
        ] {
            assert_eq!(effort_of(&body).as_deref(), expected);
        }
    }
}
