//! The check of metric `action`: reads the actions in an answer and scores them against the expected ones.

use agon_core::Digest;
use agon_core::answer::{AnswerScore, AnswerTest};
use agon_core::prediction::{ActionScore, ScoredPrediction, UiAction, Window};
use serde::{Deserialize, Serialize};

use super::alignment::align;
use crate::fixtures::Fixture;
use crate::parse::parse;

/// From here on an answer has passed, unless another mark is set. Less would be no mark at all: whoever copies
/// long reference actions gets most of the keys right, and none of the points.
pub const PASS: f64 = 1.0;
/// Every expected action is compared with every predicted one.
pub const MAX_EXPECTED: usize = 1_000;
/// Changes whenever the same answer gets another score.
const VERSION: &str = "agon-predict action 2";

/// What was asked, and what is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionQuestion {
    /// The fixture or the file that it came from.
    pub group: String,
    /// The window of the example, and what was done there.
    pub reference_window: Option<Window>,
    pub reference: Vec<UiAction>,
    /// The active one.
    pub window: Window,
    pub expected: Vec<UiAction>,
    /// The picture that the model sees.
    pub image: Option<Digest>,
}

impl From<&Fixture> for ActionQuestion {
    fn from(fixture: &Fixture) -> Self {
        Self {
            group: fixture.group.name().to_owned(),
            reference_window: Some(fixture.reference_window.clone()),
            reference: fixture.actions.actions.clone(),
            window: fixture.active_window.clone(),
            expected: fixture.expected.clone(),
            image: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongExpectation {
    #[error("no action is expected: give at least one")]
    Nothing,
    #[error("{0} actions are expected, and at most {MAX_EXPECTED} can be: split them")]
    TooMany(usize),
    #[error(
        "the expected action {index} is at ({x}, {y}), outside of the active window: nobody could \
         get it right"
    )]
    Outside { index: usize, x: String, y: String },
    #[error("an answer passes from a score above 0 up to 1 on, not from {0}")]
    Mark(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ActionAnswer {
    question: ActionQuestion,
    pass_at: f64,
}

impl ActionAnswer {
    pub fn new(question: ActionQuestion) -> Result<Self, WrongExpectation> {
        match question.expected.len() {
            0 => return Err(WrongExpectation::Nothing),
            1..=MAX_EXPECTED => {}
            more => return Err(WrongExpectation::TooMany(more)),
        }
        for (index, action) in question.expected.iter().enumerate() {
            if let UiAction::Mouse(mouse) = action
                && !question.window.contains(mouse.mouse_x, mouse.mouse_y)
            {
                return Err(WrongExpectation::Outside {
                    index,
                    x: mouse.mouse_x.to_string(),
                    y: mouse.mouse_y.to_string(),
                });
            }
        }
        Ok(Self {
            question,
            pass_at: PASS,
        })
    }

    /// Another mark than [`PASS`].
    pub fn passing_at(self, mark: f64) -> Result<Self, WrongExpectation> {
        if mark > 0.0 && mark <= 1.0 {
            Ok(Self {
                pass_at: mark,
                ..self
            })
        } else {
            Err(WrongExpectation::Mark(mark.to_string()))
        }
    }

    pub fn question(&self) -> &ActionQuestion {
        &self.question
    }

    /// Scores actions that were read already, or says why there are none.
    pub(crate) fn score(&self, predicted: Result<Vec<UiAction>, String>) -> AnswerScore {
        let (score, reason, prediction) = self.scored(predicted);
        AnswerScore {
            passed: score >= self.pass_at,
            score,
            reason,
            value: mean_distance(&prediction.scores, &prediction.window),
            prediction: Some(Box::new(prediction)),
        }
    }

    fn scored(&self, predicted: Result<Vec<UiAction>, String>) -> (f64, String, ScoredPrediction) {
        let question = &self.question;
        let (predicted, why) = match predicted {
            Ok(actions) => (actions, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let aligned = align(&question.expected, &predicted, &question.window);
        let reason = why
            .clone()
            .unwrap_or_else(|| told(&aligned.scores, predicted.len()));
        let prediction = ScoredPrediction {
            metric: "action".to_owned(),
            group: question.group.clone(),
            parsed: why.is_none(),
            why,
            question: None,
            answer: None,
            window: question.window.clone(),
            reference_window: question.reference_window.clone(),
            reference: question.reference.clone(),
            expected: question.expected.clone(),
            target: None,
            predicted,
            scores: aligned.scores,
            image: question.image,
        };
        (aligned.score, reason, prediction)
    }
}

fn told(scores: &[ActionScore], given: usize) -> String {
    let exact = scores.iter().filter(|score| score.score >= 1.0).count();
    let all = scores.len();
    format!("{exact} of {all} expected actions exact, {given} given")
}

/// The mean over the pairs of points, in pixels.
fn mean_distance(scores: &[ActionScore], window: &Window) -> Option<f64> {
    let shares: Vec<f64> = scores.iter().filter_map(|score| score.distance).collect();
    if shares.is_empty() {
        return None;
    }
    let mean = shares
        .iter()
        .map(|share| share / shares.len() as f64)
        .sum::<f64>();
    Some(mean * window.diagonal()).filter(|pixels| pixels.is_finite())
}

impl AnswerTest for ActionAnswer {
    fn label(&self) -> String {
        format!("predicted actions ({})", self.question.group)
    }

    fn digest(&self) -> Digest {
        let question = serde_json::to_vec(&self.question).unwrap_or_default();
        Digest::of_parts([VERSION.as_bytes(), &self.pass_at.to_le_bytes(), &question])
    }

    fn judge(&self, answer: Option<&str>) -> AnswerScore {
        self.score(match answer {
            None => Err("there is no answer".to_owned()),
            Some(text) => parse(text).map_err(|error| error.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Group;

    fn answer(group: Group) -> ActionAnswer {
        ActionAnswer::new((&group.fixture()).into()).unwrap()
    }

    const RIGHT: &str = "active_action_dict={'name': 'click', 'mouse_x': 138, 'mouse_y': 89, \
                         'mouse_button_name': 'left', 'mouse_pressed': True}";

    #[test]
    fn the_right_answer_is_all_right() {
        let score = answer(Group::SingleMouse).judge(Some(RIGHT));
        assert!(score.passed);
        assert_eq!((score.score, score.value), (1.0, Some(0.0)));
        assert_eq!(score.reason, "1 of 1 expected actions exact, 1 given");
        let prediction = score.prediction.unwrap();
        assert_eq!(prediction.predicted, prediction.expected);
        assert_eq!(
            (prediction.metric.as_str(), prediction.group.as_str()),
            ("action", "single_mouse")
        );
        assert!(prediction.parsed && prediction.why.is_none());
        assert_eq!(prediction.scores[0].with, Some(0));
    }

    #[test]
    fn the_reference_itself_is_not_the_answer() {
        let fixture = Group::SingleMouse.fixture();
        let text = serde_json::to_string(&fixture.actions).unwrap();
        let score = answer(Group::SingleMouse).judge(Some(&text));
        // (25, 55) is not even in the window that was moved.
        assert_eq!((score.score, score.passed), (0.5, false));
    }

    #[test]
    fn every_fixture_is_solved_by_what_it_expects() {
        for group in Group::ALL {
            let text = serde_json::to_string(&group.fixture().expected).unwrap();
            assert_eq!(answer(group).judge(Some(&text)).score, 1.0);
        }
    }

    #[test]
    fn what_cannot_be_read_is_nothing_and_says_why() {
        let score = answer(Group::SingleMouse).judge(Some("click it"));
        assert_eq!((score.score, score.passed, score.value), (0.0, false, None));
        assert!(score.reason.contains("there is none"), "{}", score.reason);
        let prediction = score.prediction.unwrap();
        assert!(!prediction.parsed);
        assert_eq!(prediction.why.as_ref(), Some(&score.reason));
        assert_eq!(
            (prediction.scores.len(), prediction.scores[0].score),
            (1, 0.0)
        );
        let score = answer(Group::SingleMouse).judge(None);
        assert_eq!(
            (score.score, score.reason.as_str()),
            (0.0, "there is no answer")
        );
    }

    #[test]
    fn the_mark_is_where_it_was_set() {
        // 0.1 of the diagonal of 1350 pixels away.
        let near = RIGHT.replace("138", "273");
        let score = answer(Group::SingleMouse).judge(Some(&near));
        assert!(
            !score.passed && (0.949..0.951).contains(&score.score),
            "{}",
            score.score
        );
        assert_eq!(score.value, Some(135.0));
        let mild = answer(Group::SingleMouse).passing_at(0.9).unwrap();
        assert!(mild.judge(Some(&near)).passed);
        assert!(mild.judge(Some(RIGHT)).passed);
        for mark in [0.0, 1.5, f64::NAN] {
            assert!(answer(Group::SingleMouse).passing_at(mark).is_err());
        }
    }

    #[test]
    fn the_digest_covers_all_that_can_change_a_score() {
        let one = answer(Group::SingleMouse);
        assert_eq!(one.digest(), answer(Group::SingleMouse).digest());
        assert_ne!(one.digest(), answer(Group::MultiClick).digest());
        assert_ne!(one.digest(), one.clone().passing_at(0.9).unwrap().digest());
        let mut other = one.clone();
        other.question.window.width += 1;
        assert_ne!(one.digest(), other.digest());
    }

    #[test]
    fn what_cannot_be_expected_is_refused() {
        let question = || ActionQuestion::from(&Group::SingleMouse.fixture());
        let refused = |question| ActionAnswer::new(question).unwrap_err().to_string();
        let none = ActionQuestion {
            expected: Vec::new(),
            ..question()
        };
        assert!(refused(none).contains("at least one"));
        let many = ActionQuestion {
            expected: vec![question().expected[0].clone(); MAX_EXPECTED + 1],
            ..question()
        };
        assert!(refused(many).contains("1001"));
        let outside = ActionQuestion {
            expected: question().reference,
            ..question()
        };
        assert!(refused(outside).contains("(25, 55), outside"));
    }
}
