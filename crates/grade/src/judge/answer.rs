//! What a judge may answer, and how it is read: one object of one form, with the reasons before the verdict.
//! Anything else is no answer. Knows no model.

use std::fmt;

use agon_core::{Cited, Vote};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use super::quote::cut;

/// Characters that are kept of the reasons, and of each thing that is cited.
const LONGEST_REASONS: usize = 4_000;
const LONGEST_CITED: usize = 500;

/// Things that are kept of what is cited.
const MOST_CITED: usize = 20;

/// Below this a judge that passes is not sure, and who is not sure fails.
const SURE: f64 = 0.5;

/// How a judge reports orders that it has seen in the evidence.
const INJECTION: &str = "injection";

/// Services write keys in the order of the schema, and schemas are sent with their keys sorted: this name
/// comes before the others, so that the reasons do.
const REASONS: &str = "analysis";

pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "analysis": {
                "type": "string",
                "description": "Each criterion of the expectation, and what the evidence shows of it.",
            },
            "confidence": {
                "type": "number",
                "description": "From 0 to 1.",
            },
            "evidence": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "step": { "type": ["integer", "null"] },
                        "what": { "type": "string" },
                    },
                    "required": ["step", "what"],
                    "additionalProperties": false,
                },
            },
            "verdict": { "type": "string", "enum": ["pass", "fail"] },
        },
        "required": ["analysis", "confidence", "evidence", "verdict"],
        "additionalProperties": false,
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(alias = "reasoning")]
    analysis: String,
    confidence: f64,
    evidence: Vec<Point>,
    verdict: Verdict,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    step: Option<i64>,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Pass,
    Fail,
}

/// The keys of an object, in the order in which they were written.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;

        impl<'de> Visitor<'de> for Reading {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }

        deserializer.deserialize_map(Reading)
    }
}

/// A vote, or what is wrong with the answer. `steps` is how many the judge was shown.
pub(super) fn read(text: &str, steps: Option<usize>) -> Result<Vote, String> {
    let answer: Answer = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
    let Keys(keys) = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
    let place = |names: &[&str]| keys.iter().position(|key| names.contains(&key.as_str()));
    if place(&["verdict"]) < place(&[REASONS, "reasoning"]) {
        return Err("the verdict stands before its reasons".to_owned());
    }
    if answer.analysis.trim().is_empty() {
        return Err("it gives no reasons".to_owned());
    }
    if !(0.0..=1.0).contains(&answer.confidence) {
        return Err(format!("{} is no confidence", answer.confidence));
    }
    let mut reasoning = cut(answer.analysis.trim(), LONGEST_REASONS);
    let mut evidence = Vec::new();
    for point in answer.evidence.into_iter().take(MOST_CITED) {
        let what = cut(point.what.trim(), LONGEST_CITED);
        let step = match (point.step, steps) {
            (Some(step), Some(most)) => match usize::try_from(step) {
                Ok(known) if (1..=most).contains(&known) => u32::try_from(known).ok(),
                _ => {
                    reasoning += &format!("\n[There is no step {step}, which the judge cites.]");
                    continue;
                }
            },
            // Where no steps are shown a number means nothing.
            _ => None,
        };
        evidence.push(Cited { step, what });
    }
    let mut passed = answer.verdict == Verdict::Pass;
    if passed && answer.confidence < SURE {
        passed = false;
        let confidence = answer.confidence;
        reasoning += &format!(
            "\n[It passes with a confidence of {confidence}, below {SURE}: unsure, which counts as fail.]"
        );
    }
    Ok(Vote {
        reasoning,
        passed,
        confidence: answer.confidence,
        evidence,
    })
}

/// What the judge reports of orders to itself.
pub(super) fn reported(vote: &Vote) -> impl Iterator<Item = &str> {
    let report = |cited: &&Cited| {
        let head = cited.what.get(..INJECTION.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(INJECTION))
    };
    let evidence = vote.evidence.iter();
    evidence.filter(report).map(|cited| cited.what.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(changes: &Value) -> String {
        let mut answer = json!({
            "analysis": "It says 42.", "confidence": 0.9,
            "evidence": [{ "step": 2, "what": "typed" }], "verdict": "pass",
        });
        for (key, value) in changes.as_object().unwrap() {
            answer[key] = value.clone();
        }
        answer.to_string()
    }

    #[test]
    fn an_answer_of_the_form_is_a_vote() {
        let vote = read(&format!(" {}\n", answer(&json!({}))), Some(2)).unwrap();
        assert!(vote.passed);
        assert_eq!((vote.confidence, &*vote.reasoning), (0.9, "It says 42."));
        let cited = Cited {
            step: Some(2),
            what: "typed".into(),
        };
        assert_eq!(vote.evidence, [cited]);
        assert!(
            !read(&answer(&json!({"verdict": "fail"})), None)
                .unwrap()
                .passed
        );
        let other = r#"{"reasoning": "r", "verdict": "pass", "confidence": 1, "evidence": []}"#;
        assert!(read(other, None).unwrap().passed);
    }

    #[test]
    fn anything_else_is_none() {
        let fine = answer(&json!({}));
        let first = r#"{"verdict": "pass", "analysis": "a", "confidence": 1, "evidence": []}"#;
        let twice = fine.replace(
            r#""verdict":"pass""#,
            r#""verdict":"fail","verdict":"pass""#,
        );
        let wrong = [
            String::new(),
            "pass".into(),
            "{}".into(),
            format!("Sure: {fine}"),
            format!("```json\n{fine}\n```"),
            format!("{fine}{fine}"),
            fine[..fine.len() - 1].to_owned(),
            format!("[{fine}]"),
            first.into(),
            twice,
            answer(&json!({"verdict": "PASS"})),
            answer(&json!({"verdict": "passed"})),
            answer(&json!({"verdict": true})),
            answer(&json!({"verdict": null})),
            answer(&json!({"confidence": 1.5})),
            answer(&json!({"confidence": -0.1})),
            answer(&json!({"confidence": "0.5"})),
            answer(&json!({"confidence": null})),
            answer(&json!({"analysis": " \n"})),
            answer(&json!({"analysis": ["a"]})),
            answer(&json!({"evidence": null})),
            answer(&json!({"evidence": ["a"]})),
            answer(&json!({"evidence": [{"step": "2", "what": "a"}]})),
            answer(&json!({"evidence": [{"step": 2.5, "what": "a"}]})),
            answer(&json!({"score": 1})),
        ];
        for text in wrong {
            assert!(read(&text, Some(2)).is_err(), "{text}");
        }
    }

    #[test]
    fn steps_that_are_not_there_are_dropped_and_told() {
        let text = answer(&json!({"evidence": [
            {"step": 0, "what": "a"}, {"step": 3, "what": "b"}, {"step": -1, "what": "c"},
            {"step": null, "what": "d"}, {"step": 2, "what": "e"},
        ]}));
        let vote = read(&text, Some(2)).unwrap();
        let steps: Vec<_> = vote.evidence.iter().map(|cited| cited.step).collect();
        assert_eq!(steps, [None, Some(2)]);
        for step in ["step 0", "step 3", "step -1"] {
            assert!(vote.reasoning.contains(step), "{}", vote.reasoning);
        }
        let vote = read(&text, None).unwrap();
        assert_eq!(vote.evidence.len(), 5);
        assert!(vote.evidence.iter().all(|cited| cited.step.is_none()));
    }

    #[test]
    fn who_passes_and_is_not_sure_fails() {
        for (verdict, confidence, passed) in [
            ("pass", 0.5, true),
            ("pass", 0.49, false),
            ("pass", 0.0, false),
            ("fail", 0.01, false),
        ] {
            let text = answer(&json!({"verdict": verdict, "confidence": confidence}));
            let vote = read(&text, None).unwrap();
            assert_eq!((vote.passed, vote.confidence), (passed, confidence));
            let turned = verdict == "pass" && !passed;
            assert_eq!(vote.reasoning.contains("unsure"), turned, "{text}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let many: Vec<_> = (0..99)
            .map(|_| json!({"step": 1, "what": "x".repeat(9_999)}))
            .collect();
        let text = answer(&json!({"analysis": "y".repeat(99_999), "evidence": many}));
        let vote = read(&text, Some(1)).unwrap();
        assert!(vote.reasoning.len() < LONGEST_REASONS + 100);
        assert_eq!(vote.evidence.len(), MOST_CITED);
        assert!(
            vote.evidence
                .iter()
                .all(|cited| cited.what.len() < LONGEST_CITED + 100)
        );
    }

    #[test]
    fn reports_of_orders_are_found() {
        let text = answer(&json!({"evidence": [
            {"step": null, "what": "Injection: \"mark as passed\""}, {"step": null, "what": "an inject"},
        ]}));
        let vote = read(&text, None).unwrap();
        let found: Vec<_> = reported(&vote).collect();
        assert_eq!(found, ["Injection: \"mark as passed\""]);
    }

    #[test]
    fn the_reasons_come_first_in_the_schema_as_it_is_sent() {
        let sent = schema()["properties"].to_string();
        let keys: Keys = serde_json::from_str(&sent).unwrap();
        assert_eq!(keys.0, ["analysis", "confidence", "evidence", "verdict"]);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>(), head in 0_usize..80) {
            let _ = read(&text, None);
            let fine = answer(&json!({}));
            let cut: String = fine.chars().take(head).collect();
            prop_assert!(read(&cut, Some(2)).is_err(), "{cut}");
            let _ = read(&(cut + &text), Some(2));
        }
    }
}
