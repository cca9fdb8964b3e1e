//! How a window is judged, as data, and how a task says it in its `success_criteria`. Looks at nothing.

use agon_core::Region;
use agon_core::check::TextTest;
use agon_core::sight::{NumberForm, NumberTest, SightTest};
use agon_desktop::KeyCombination;
use serde_json::{Map, Value};

/// The keys of `success_criteria` that evaluators know; others mean something to others.
pub(super) const KEYS: [&str; 12] = [
    "start_keys",
    "end_text",
    "end_region",
    "score_after",
    "score_form",
    "score_region",
    "score_within_play",
    "score_at_least",
    "time_survived",
    "model",
    "end_question",
    "score_question",
];

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Plan {
    /// Pressed for the agent before it begins.
    pub(super) start: Vec<KeyCombination>,
    /// It is over when this holds.
    pub(super) end: Option<SightTest>,
    /// Where the score stands.
    pub(super) score: Option<SightTest>,
    pub(super) pass: Pass,
}

/// What a success is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Pass {
    /// A score that could be read; without one, that it has ended.
    #[default]
    Any,
    AtLeast(f64),
    MoreThan(f64),
}

impl Pass {
    pub(super) fn passes(self, score: f64) -> bool {
        match self {
            Self::Any => true,
            Self::AtLeast(least) => score >= least,
            Self::MoreThan(limit) => score > limit,
        }
    }
}

impl Plan {
    pub(super) fn parse(criteria: &Map<String, Value>) -> Result<Self, String> {
        let criteria = Criteria(criteria);
        let end = criteria.text("end_text")?;
        let end_region = criteria.region("end_region")?;
        let after = criteria.text("score_after")?;
        let form = criteria.form("score_form")?;
        let wants_score = after.is_some() || form.is_some();
        let score_region = criteria.region("score_region")?;
        let within_play = criteria.flag("score_within_play")?;
        Ok(Self {
            start: criteria.keys("start_keys")?.unwrap_or_default(),
            end: end.map(|text| shows(text, end_region)),
            score: wants_score
                .then(|| number(after, form.unwrap_or_default(), score_region, within_play)),
            pass: criteria.pass()?,
        })
    }
}

impl Plan {
    /// Whether the score is the seconds of play.
    pub(super) fn counts_seconds(&self) -> bool {
        let Some(SightTest::Text { number, .. }) = &self.score else {
            return false;
        };
        number.as_ref().is_some_and(|number| number.within_play)
    }
}

/// Text that is to be seen.
pub(super) fn shows(text: String, region: Option<Region>) -> SightTest {
    SightTest::Text {
        region,
        tests: vec![TextTest::Contains(text)],
        number: None,
    }
}

/// A number that is to be read.
pub(super) fn number(
    after: Option<String>,
    form: NumberForm,
    region: Option<Region>,
    within_play: bool,
) -> SightTest {
    SightTest::Text {
        region,
        tests: Vec::new(),
        number: Some(NumberTest {
            after,
            form,
            at_least: None,
            at_most: None,
            within_play,
        }),
    }
}

/// Criteria come over the network, so each value is checked before it is used.
pub(super) struct Criteria<'a>(pub(super) &'a Map<String, Value>);

impl Criteria<'_> {
    fn get<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        debug_assert!(KEYS.contains(&key));
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value)
                .map(Some)
                .ok_or_else(|| format!("success_criteria.{key} must be {expected}")),
        }
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        self.text_within(key, 500)
    }

    pub(super) fn text_within(&self, key: &str, most: usize) -> Result<Option<String>, String> {
        let read = |value: &Value| {
            let text = value.as_str()?.trim();
            (!text.is_empty() && text.len() <= most).then(|| text.to_owned())
        };
        self.get(key, &format!("a text of 1 to {most} bytes"), read)
    }

    pub(super) fn keys(&self, key: &str) -> Result<Option<Vec<KeyCombination>>, String> {
        let keys = self.text(key)?;
        let keys = keys.map(|keys| KeyCombination::sequence(&keys)).transpose();
        keys.map_err(|error| format!("success_criteria.{key}: {error}"))
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, String> {
        let flag = self.get(key, "true or false", Value::as_bool)?;
        Ok(flag.unwrap_or_default())
    }

    fn seconds(&self, key: &str) -> Result<Option<f64>, String> {
        self.get(key, "a number", Value::as_f64)
    }

    fn region(&self, key: &str) -> Result<Option<Region>, String> {
        // A list would be taken for one as well.
        let read = |value: &Value| {
            let object = value.as_object()?.clone();
            serde_json::from_value(Value::Object(object)).ok()
        };
        self.get(key, "{x, y, width, height} in pixels of the window", read)
    }

    fn form(&self, key: &str) -> Result<Option<NumberForm>, String> {
        let read = |value: &Value| match value.as_str()? {
            "plain" => Some(NumberForm::Plain),
            "seconds_hundredths" => Some(NumberForm::SecondsHundredths),
            "minutes_seconds" => Some(NumberForm::MinutesSeconds),
            _ => None,
        };
        let expected = "plain, seconds_hundredths or minutes_seconds";
        self.get(key, expected, read)
    }

    /// The sample's `time_survived` must be exceeded.
    pub(super) fn pass(&self) -> Result<Pass, String> {
        let least = self.seconds("score_at_least")?;
        let limit = self.seconds("time_survived")?;
        Ok(match (least, limit) {
            (Some(least), _) => Pass::AtLeast(least),
            (None, Some(limit)) => Pass::MoreThan(limit),
            (None, None) => Pass::Any,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(criteria: Value) -> Result<Plan, String> {
        Plan::parse(criteria.as_object().unwrap())
    }

    #[test]
    fn all_that_can_be_said_is_understood() {
        let plan = parse(json!({
            "start_keys": "space", "end_text": "GAME OVER",
            "end_region": { "x": 1, "y": 2, "width": 3, "height": 4 },
            "score_after": "LAST", "score_form": "seconds_hundredths", "score_within_play": true,
            "time_survived": 10, "whatever": [],
        }))
        .unwrap();
        let region = Region {
            x: 1,
            y: 2,
            width: 3,
            height: 4,
        };
        assert_eq!(plan.end, Some(shows("GAME OVER".to_owned(), Some(region))));
        let form = NumberForm::SecondsHundredths;
        let score = number(Some("LAST".to_owned()), form, None, true);
        assert_eq!(plan.score, Some(score));
        assert_eq!(plan.start.len(), 1);
        assert!(plan.pass.passes(10.01) && !plan.pass.passes(10.0));
        assert_eq!(parse(json!({})).unwrap(), Plan::default());
    }

    #[test]
    fn a_value_that_makes_no_sense_is_named() {
        for (key, value) in [
            ("end_text", json!("  ")),
            ("end_region", json!([1, 2, 3, 4])),
            ("score_form", json!("roman")),
            ("score_within_play", json!(1)),
            ("time_survived", json!("long")),
            ("start_keys", json!("no+such+key")),
        ] {
            let refused = parse(json!({ key: value })).unwrap_err();
            assert!(refused.contains(key), "{refused}");
        }
    }
}
