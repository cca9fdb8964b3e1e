//! The two questions that a model is asked about a window, how a task says them, and what an answer
//! means. Asks nobody.

use agon_agent::play::Task;
use agon_desktop::{Key, KeyCombination};
use agon_llm::{Image, MediaType, Message, Output, Part, Request, Role, Sampling};
use serde_json::{Value, json};

use super::plan::{Criteria, Pass};
use crate::evaluator::JudgeError;

/// The seed's, word by word.
const END: &str = "This is a screenshot of a game called Super Hexagon. Can you see the text `PRESS \
                   SPACE TO RETRY` in the bottom? Say only yes or no.";
const SCORE: &str = "This is a screenshot of a game called Super Hexagon. What is the score? It should \
                     be written next to `LAST`, and should be in the format of `%d:%d` up to 2 \
                     decimals. If you cannot find the score, the score should be `-1`.";

const LONGEST_QUESTION: usize = 4_000;
const LONGEST_NAME: usize = 200;

/// What a task wants to be asked, and of whom.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Questions {
    /// Pressed for the agent before it begins.
    pub(super) start: Vec<KeyCombination>,
    /// `None`: the operator's.
    pub(super) model: Option<String>,
    /// Yes: it is over.
    pub(super) end: String,
    pub(super) score: String,
    /// The score is seconds of play, so it can't be more than these.
    pub(super) within_play: bool,
    pub(super) pass: Pass,
}

impl Questions {
    pub(super) fn of(task: &Task) -> Result<Self, JudgeError> {
        Self::parse(&Criteria(&task.success_criteria)).map_err(JudgeError::Evaluator)
    }

    fn parse(criteria: &Criteria<'_>) -> Result<Self, String> {
        let question = |key, default: &str| {
            let own = criteria.text_within(key, LONGEST_QUESTION)?;
            Ok::<_, String>(own.unwrap_or_else(|| default.to_owned()))
        };
        let start = criteria.keys("start_keys")?;
        Ok(Self {
            start: start.unwrap_or_else(|| vec![KeyCombination::from(Key::Space)]),
            model: criteria.text_within("model", LONGEST_NAME)?,
            end: question("end_question", END)?,
            score: question("score_question", SCORE)?,
            within_play: criteria.flag("score_within_play")?,
            pass: criteria.pass()?,
        })
    }
}

/// The question whether it is over.
pub(super) fn end_request(question: &str, picture: Image) -> Request {
    Request {
        sampling: Sampling {
            temperature: Some(0.0),
            ..Sampling::default()
        },
        ..Request::new([Message::new(
            Role::User,
            [Part::Text(question.to_owned()), Part::Image(picture)],
        )])
    }
}

/// The question for the score.
pub(super) fn score_request(question: &str, picture: Image) -> Request {
    Request {
        output: Output::Json {
            name: "score".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "score": { "type": "number" } },
                "required": ["score"],
                "additionalProperties": false,
            }),
        },
        ..end_request(question, picture)
    }
}

pub(super) fn png(bytes: &[u8]) -> Image {
    Image {
        media: MediaType::Png,
        bytes: bytes.into(),
    }
}

/// `None`: it is neither yes nor no. The first of the two words counts.
pub(super) fn yes(answer: &str) -> Option<bool> {
    let words = answer.split(|c: char| !c.is_alphanumeric());
    words.into_iter().find_map(|word| match word {
        _ if word.eq_ignore_ascii_case("yes") => Some(true),
        _ if word.eq_ignore_ascii_case("no") => Some(false),
        _ => None,
    })
}

/// What the model has read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Score {
    Read(f64),
    /// The model says that there is none.
    Missing,
    /// The answer is no JSON.
    Unreadable,
}

/// The error says what is wrong: an answer that is well-formed and has no number is not one of a model
/// that could not read.
pub(super) fn score(answer: &str) -> Result<Score, String> {
    let Ok(value) = serde_json::from_str::<Value>(answer.trim()) else {
        return Ok(Score::Unreadable);
    };
    match value.get("score").and_then(Value::as_f64) {
        Some(score) if score >= 0.0 => Ok(Score::Read(score)),
        Some(_) => Ok(Score::Missing),
        None => Err("its answer has no number `score`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(criteria: &Value) -> Result<Questions, String> {
        Questions::parse(&Criteria(criteria.as_object().unwrap()))
    }

    #[test]
    fn a_task_that_says_nothing_asks_as_the_seed_did() {
        let questions = parse(&json!({ "time_survived": 10 })).unwrap();
        assert_eq!(
            questions.end,
            "This is a screenshot of a game called Super Hexagon. Can you see the text `PRESS SPACE TO \
             RETRY` in the bottom? Say only yes or no."
        );
        assert_eq!(
            questions.score,
            "This is a screenshot of a game called Super Hexagon. What is the score? It should be \
             written next to `LAST`, and should be in the format of `%d:%d` up to 2 decimals. If you \
             cannot find the score, the score should be `-1`."
        );
        assert_eq!(questions.start, [KeyCombination::from(Key::Space)]);
        assert_eq!(questions.model, None);
        assert!(questions.pass.passes(10.01) && !questions.pass.passes(10.0));
    }

    #[test]
    fn a_task_asks_its_own_questions_and_a_wrong_value_is_named() {
        let questions = parse(&json!({
            "model": "eye", "end_question": "Over?", "score_question": "Points?",
            "start_keys": "Enter", "score_within_play": true,
        }))
        .unwrap();
        assert_eq!(questions.model.as_deref(), Some("eye"));
        assert_eq!((&*questions.end, &*questions.score), ("Over?", "Points?"));
        assert_eq!(questions.start, [KeyCombination::from(Key::Enter)]);
        assert!(questions.within_play);
        for (key, value) in [
            ("model", json!({ "base_url": "http://elsewhere" })),
            ("model", json!("m".repeat(201))),
            ("end_question", json!("")),
            ("score_question", json!("q".repeat(4_001))),
        ] {
            let refused = parse(&json!({ key: value })).unwrap_err();
            assert!(refused.contains(key), "{refused}");
        }
    }

    #[test]
    fn the_first_yes_or_no_counts() {
        for (answer, meant) in [
            ("Yes", Some(true)),
            ("yes.", Some(true)),
            ("**YES**", Some(true)),
            ("The answer is: yes!", Some(true)),
            ("No", Some(false)),
            ("No, otherwise I would say yes.", Some(false)),
            ("I saw it yesterday, with my own eyes", None),
            ("nothing", None),
            ("", None),
        ] {
            assert_eq!(yes(answer), meant, "{answer}");
        }
    }

    #[test]
    fn only_a_number_that_the_model_gives_is_a_score() {
        assert_eq!(score(r#"{"score":12.34}"#), Ok(Score::Read(12.34)));
        assert_eq!(score(" {\"score\": 0}\n"), Ok(Score::Read(0.0)));
        assert_eq!(score(r#"{"score":-1}"#), Ok(Score::Missing));
        assert_eq!(score("I can't tell"), Ok(Score::Unreadable));
        assert_eq!(score(r#"{"score":NaN}"#), Ok(Score::Unreadable));
        for answer in [
            "{}",
            "12.34",
            r#"{"score":"12"}"#,
            r#"{"score":null}"#,
            "[]",
        ] {
            assert!(score(answer).is_err(), "{answer}");
        }
    }
}
