//! The check of metric `hit`: whether the point in an answer is in the box that it must hit.

use agon_core::Digest;
use agon_core::answer::{AnswerScore, AnswerTest};
use agon_core::prediction::{
    ActionScore, MouseAction, MouseActionName, ScoredPrediction, TargetBox, UiAction, Window,
    beginning,
};
use serde::{Deserialize, Serialize};

use super::unit::PointUnit;
use crate::parse::{Point, point_of};

/// Changes whenever the same answer gets another score.
const VERSION: &str = "agon-predict hit 2";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HitAnswer {
    /// The file that it came from.
    pub group: String,
    /// The whole picture.
    pub window: Window,
    pub target: TargetBox,
    #[serde(default)]
    pub unit: PointUnit,
    /// The picture that the model sees.
    #[serde(default)]
    pub image: Option<Digest>,
    /// What is to be clicked on, for those who read the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

impl HitAnswer {
    fn scored(&self, point: Result<Point, String>) -> (bool, ScoredPrediction) {
        let point = point.map(|point| self.unit.in_pixels(point, &self.window));
        let hit = point
            .as_ref()
            .is_ok_and(|point| self.target.contains(point.x, point.y));
        let score = ActionScore {
            kind: "click".to_owned(),
            score: if hit { 1.0 } else { 0.0 },
            with: point.is_ok().then_some(0),
            distance: point.as_ref().ok().and_then(|point| self.distance(*point)),
        };
        let prediction = ScoredPrediction {
            metric: "hit".to_owned(),
            group: self.group.clone(),
            parsed: point.is_ok(),
            why: point.as_ref().err().cloned(),
            question: self.question.as_deref().map(beginning),
            answer: None,
            window: self.window.clone(),
            reference_window: None,
            reference: Vec::new(),
            expected: Vec::new(),
            target: Some(self.target),
            predicted: point.ok().map(click).into_iter().collect(),
            scores: vec![score],
            image: self.image,
        };
        (hit, prediction)
    }

    /// To the centre of the box, as a share of the picture's diagonal.
    fn distance(&self, point: Point) -> Option<f64> {
        let (x, y) = self.target.centre();
        let share = (point.x - x).hypot(point.y - y) / self.window.diagonal();
        share.is_finite().then_some(share)
    }
}

/// A point as the action that it stands for.
fn click(point: Point) -> UiAction {
    UiAction::Mouse(MouseAction {
        name: MouseActionName::Click,
        mouse_x: point.x,
        mouse_y: point.y,
        mouse_button_name: "left".to_owned(),
        mouse_pressed: true,
        element_state: serde_json::Map::new(),
    })
}

impl AnswerTest for HitAnswer {
    fn label(&self) -> String {
        format!("point in box ({})", self.group)
    }

    fn digest(&self) -> Digest {
        let content = serde_json::to_vec(self).unwrap_or_default();
        Digest::of_parts([VERSION.as_bytes(), &content])
    }

    fn judge(&self, answer: Option<&str>) -> AnswerScore {
        let point = match answer {
            None => Err("there is no answer".to_owned()),
            Some(text) => point_of(text).map_err(|error| error.to_string()),
        };
        let (hit, mut prediction) = self.scored(point);
        prediction.answer = answer.map(beginning);
        let value = prediction.scores.first().and_then(|score| score.distance);
        let reason = match (&prediction.why, prediction.predicted.first()) {
            (Some(why), _) => why.clone(),
            (None, Some(UiAction::Mouse(point))) => {
                let place = if hit { "in" } else { "outside of" };
                format!("({}, {}) is {place} the box", point.mouse_x, point.mouse_y)
            }
            (None, _) => String::new(),
        };
        AnswerScore {
            passed: hit,
            score: if hit { 1.0 } else { 0.0 },
            reason,
            value: value
                .map(|share| share * self.window.diagonal())
                .filter(|pixels| pixels.is_finite()),
            prediction: Some(Box::new(prediction)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(unit: PointUnit) -> HitAnswer {
        HitAnswer {
            group: "screenspot.jsonl".to_owned(),
            window: Window {
                width: 1000,
                height: 500,
                ..Window::default()
            },
            target: TargetBox {
                left: 100.0,
                top: 50.0,
                width: 40.0,
                height: 20.0,
            },
            unit,
            image: None,
            question: None,
        }
    }

    #[test]
    fn a_point_in_the_box_hits() {
        let answer = answer(PointUnit::Pixels);
        for text in ["(100, 50)", "[140, 70]", "{\"point_2d\": [120, 60]}"] {
            let score = answer.judge(Some(text));
            assert_eq!((score.passed, score.score), (true, 1.0), "{text}");
        }
        let score = answer.judge(Some("(120, 60)"));
        assert_eq!(score.value, Some(0.0));
        assert_eq!(score.reason, "(120, 60) is in the box");
        let prediction = score.prediction.unwrap();
        assert_eq!(prediction.target, Some(answer.target));
        assert_eq!((prediction.predicted.len(), prediction.parsed), (1, true));
    }

    #[test]
    fn any_other_misses() {
        let answer = answer(PointUnit::Pixels);
        for text in ["(99, 50)", "(140.1, 60)", "(120, 71)", "(1e308, -1e308)"] {
            let score = answer.judge(Some(text));
            assert_eq!((score.passed, score.score), (false, 0.0), "{text}");
            assert!(score.reason.contains("outside of the box"), "{text}");
        }
        for (text, part) in [(Some("here"), "expected a point"), (None, "no answer")] {
            let score = answer.judge(text);
            assert_eq!((score.passed, score.score, score.value), (false, 0.0, None));
            assert!(score.reason.contains(part), "{}", score.reason);
            assert!(!score.prediction.unwrap().parsed);
        }
    }

    #[test]
    fn points_come_in_the_unit_of_the_model() {
        assert!(
            answer(PointUnit::Relative)
                .judge(Some("(0.12, 0.12)"))
                .passed
        );
        assert!(
            answer(PointUnit::Thousandths)
                .judge(Some("(120, 120)"))
                .passed
        );
        assert!(!answer(PointUnit::Pixels).judge(Some("(120, 120)")).passed);
        let prediction = answer(PointUnit::Percent)
            .judge(Some("(12, 12)"))
            .prediction;
        let UiAction::Mouse(click) = &prediction.unwrap().predicted[0] else {
            panic!("a point is a click");
        };
        assert_eq!((click.mouse_x, click.mouse_y), (120.0, 60.0));
    }

    #[test]
    fn the_digest_covers_all_that_can_change_a_score() {
        let one = answer(PointUnit::Pixels);
        assert_ne!(one.digest(), answer(PointUnit::Percent).digest());
        let mut other = one.clone();
        other.target.width += 1.0;
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.digest(), answer(PointUnit::Pixels).digest());
    }
}
