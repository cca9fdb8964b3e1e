//! A user who knows nothing and wants nothing but that the agent goes on by itself. Keeps an agent that
//! asks from waiting for ever.

use agon_core::user::Nudge;
use async_trait::async_trait;
use regex::Regex;

use super::contract::{Heard, Reply, Respondent, UserError};
use super::pattern::{Letters, compile};

/// Messages of the user after which the agent is told that it may give up; the task is the first.
const PATIENCE: u32 = 2;

#[derive(Debug)]
pub(super) struct Nudging {
    rules: Nudge,
    answer: Option<Regex>,
    /// Messages of the user so far, the task included.
    said: u32,
}

impl Nudging {
    pub(super) fn new(rules: &Nudge) -> Result<Self, UserError> {
        let answer = rules.answer.as_deref();
        let compiled = answer.map(|answer| compile("`answer`", answer, Letters::AsWritten));
        Ok(Self {
            rules: rules.clone(),
            answer: compiled.transpose()?,
            said: 1,
        })
    }
}

#[async_trait]
impl Respondent for Nudging {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        if let Some(answer) = &self.answer
            && answer.is_match(heard.message)
        {
            return Ok(Reply::Exit);
        }
        let words = words(self.rules.solution_tags, self.said);
        self.said = self.said.saturating_add(1);
        Ok(Reply::Words(words))
    }
}

/// What such a user says who has said so much before, the task included.
pub fn words(solution_tags: bool, said: u32) -> String {
    let mut words = "Please go on with the task in the way that you think best.\n".to_owned();
    words += if solution_tags {
        "When you have solved it, put your final answer between <solution> and </solution>, send it to me \
         in a message, and then use `finish`.\n"
    } else {
        "When you have solved it, use `finish` and give your answer with it.\n"
    };
    words += "IMPORTANT: no human can help you, so never ask for one.\n";
    if said >= PATIENCE {
        words += "If you want to give up, use `finish` now.\n";
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::contract::said;

    #[tokio::test]
    async fn giving_up_is_offered_from_the_second_answer_on() {
        let mut user = Nudging::new(&Nudge::default()).unwrap();
        for round in 0..5 {
            let Reply::Words(words) = said(&mut user, "what now?").await else {
                panic!("it says something");
            };
            assert_eq!(words.contains("give up"), round >= 1, "{round}: {words}");
            assert!(words.contains("never ask"), "{words}");
            assert!(!words.contains("<solution>"), "{words}");
        }
    }

    #[tokio::test]
    async fn an_answer_ends_the_conversation() {
        let rules = Nudge {
            solution_tags: true,
            answer: Some("<solution>(.*?)</solution>".to_owned()),
        };
        let mut user = Nudging::new(&rules).unwrap();
        let Reply::Words(words) = said(&mut user, "I think it is 4").await else {
            panic!("it says something");
        };
        assert!(words.contains("<solution>"), "{words}");
        let answer = "So:\n<solution>\n4\n</solution>";
        assert_eq!(said(&mut user, answer).await, Reply::Exit);
    }

    #[test]
    fn what_is_no_expression_is_refused_by_name() {
        for bad in ["(", "(a{1000}){1000}{1000}"] {
            let rules = Nudge {
                answer: Some(bad.to_owned()),
                ..Nudge::default()
            };
            let error = Nudging::new(&rules).unwrap_err();
            assert!(matches!(error, UserError::Setup(_)), "{error:?}");
            assert!(error.to_string().contains("`answer`"), "{error}");
        }
    }
}
