//! A user who answers by rules: the first one that fits the agent's message.

use agon_core::user::Rules;
use async_trait::async_trait;
use regex::Regex;

use super::contract::{Heard, Reply, Respondent, UserError};
use super::pattern::{Letters, compile};

#[derive(Debug)]
pub(super) struct ByRules {
    rules: Vec<Ready>,
    otherwise: String,
}

#[derive(Debug)]
struct Ready {
    when: Regex,
    say: String,
    once: bool,
    used: bool,
}

impl ByRules {
    pub(super) fn new(rules: &Rules) -> Result<Self, UserError> {
        let ready = |(at, rule): (usize, &agon_core::user::Rule)| {
            let what = format!("`when` of rule {}", at + 1);
            Ok(Ready {
                when: compile(&what, &rule.when, Letters::EitherCase)?,
                say: rule.say.clone(),
                once: rule.once,
                used: false,
            })
        };
        Ok(Self {
            rules: rules
                .rules
                .iter()
                .enumerate()
                .map(ready)
                .collect::<Result<_, UserError>>()?,
            otherwise: rules.otherwise.clone(),
        })
    }
}

#[async_trait]
impl Respondent for ByRules {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        let fits =
            |rule: &&mut Ready| !(rule.once && rule.used) && rule.when.is_match(heard.message);
        let words = match self.rules.iter_mut().find(fits) {
            Some(rule) => {
                rule.used = true;
                rule.say.clone()
            }
            None => self.otherwise.clone(),
        };
        Ok(Reply::from_words(words))
    }
}

#[cfg(test)]
mod tests {
    use agon_core::user::{EXIT, Rule};
    use proptest::prelude::*;

    use super::*;
    use crate::user::contract::said;

    fn rule(when: &str, say: &str, once: bool) -> Rule {
        Rule {
            when: when.to_owned(),
            say: say.to_owned(),
            once,
        }
    }

    fn user(rules: Vec<Rule>) -> ByRules {
        let otherwise = "I don't know.".to_owned();
        ByRules::new(&Rules { rules, otherwise }).unwrap()
    }

    fn words(text: &str) -> Reply {
        Reply::Words(text.to_owned())
    }

    #[tokio::test]
    async fn the_first_rule_that_fits_answers() {
        let mut user = user(vec![
            rule("colour", "Blue.", true),
            rule("colou?r", "I said blue.", false),
            rule("^bye$", EXIT, false),
        ]);
        assert_eq!(said(&mut user, "Which COLOUR?").await, words("Blue."));
        assert_eq!(
            said(&mut user, "Which colour?").await,
            words("I said blue.")
        );
        assert_eq!(said(&mut user, "color?").await, words("I said blue."));
        assert_eq!(said(&mut user, "size?").await, words("I don't know."));
        assert_eq!(said(&mut user, "bye").await, Reply::Exit);
    }

    #[test]
    fn a_rule_that_can_not_be_used_is_named() {
        let rules = vec![rule("fine", "", false), rule("[", "", false)];
        let otherwise = String::new();
        let error = ByRules::new(&Rules { rules, otherwise }).unwrap_err();
        assert!(error.to_string().contains("rule 2"), "{error}");
    }

    proptest! {
        /// Whatever an agent says, somebody who has something to say says it.
        #[test]
        fn every_message_is_answered(messages in prop::collection::vec(any::<String>(), 1..8)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut user = user(vec![rule("a", "A", true), rule("[a-f]", "F", false)]);
            let mut first = true;
            for message in &messages {
                let lower = message.to_lowercase();
                let expected = if first && lower.contains('a') {
                    first = false;
                    "A"
                } else if lower.contains(['a', 'b', 'c', 'd', 'e', 'f']) {
                    "F"
                } else {
                    "I don't know."
                };
                prop_assert_eq!(runtime.block_on(said(&mut user, message)), words(expected));
            }
        }
    }
}
