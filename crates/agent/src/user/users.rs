//! From a task's user, which is data, to one who answers: one for each trial.

use std::sync::Arc;

use agon_core::user::Persona;
use agon_core::{Seed, User};
use agon_llm::{Account, Model};

use super::contract::{Person, Respondent, UserError};
use super::fixed::Fixed;
use super::keyboard::AtKeyboard;
use super::nudge::Nudging;
use super::own::Own;
use super::persona::Character;
use super::rules::ByRules;
use super::script::Script;

/// What users may need from the outside, given once per run.
#[derive(Debug, Clone, Default)]
pub struct Users {
    /// The first speaks for personas that name none.
    pub models: Vec<Model>,
    /// Who sits at the keyboard; `None`: nobody.
    pub person: Option<Arc<dyn Person>>,
}

/// One trial, as far as its user goes.
#[derive(Debug)]
pub struct UserContext<'a> {
    pub instruction: &'a str,
    pub seed: Seed,
    /// Pays for the model of a persona.
    pub account: &'a Arc<Account>,
}

impl Users {
    pub fn open(
        &self,
        user: &User,
        context: &UserContext<'_>,
    ) -> Result<Box<dyn Respondent>, UserError> {
        Ok(match user {
            User::Script(replies) => Box::new(Script::new(replies.clone())),
            User::Fixed(words) => Box::new(Fixed(words.clone())),
            User::Nudge(rules) => Box::new(Nudging::new(rules)?),
            User::Rules(rules) => Box::new(ByRules::new(rules)?),
            User::Persona(persona) => {
                let model = self.speaker(persona)?;
                Box::new(Character::new(persona, context, model))
            }
            User::Own(own) => Box::new(Own(own.clone())),
            User::Person => Box::new(AtKeyboard(self.somebody()?)),
        })
    }

    fn speaker(&self, persona: &Persona) -> Result<&Model, UserError> {
        let named = |name: &String| {
            let found = self.models.iter().find(|model| model.spec().name == *name);
            found.ok_or_else(|| {
                let known: Vec<_> = self.models.iter().map(|m| m.spec().name.as_str()).collect();
                let known = match known.as_slice() {
                    [] => "the run has none".to_owned(),
                    known => format!("the run has: {}", known.join(", ")),
                };
                UserError::Setup(format!("no model `{name}` for the persona; {known}"))
            })
        };
        let first = || {
            let none =
                "a persona needs a model to speak, and the run has none: name one with --model";
            let first = self.models.first();
            first.ok_or_else(|| UserError::Setup(none.to_owned()))
        };
        persona.model.as_ref().map_or_else(first, named)
    }

    fn somebody(&self) -> Result<Arc<dyn Person>, UserError> {
        self.person.clone().ok_or_else(|| {
            let nobody = "the task wants a person at the keyboard: run it with --interactive";
            UserError::Nobody(nobody.to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use agon_core::user::EXIT;
    use agon_llm::Budget;
    use async_trait::async_trait;

    use super::*;
    use crate::user::contract::{Reply, said};

    fn open(users: &Users, user: &User) -> Result<Box<dyn Respondent>, UserError> {
        let account = Arc::new(Account::of_trial(Budget::default(), None));
        let context = UserContext {
            instruction: "help",
            seed: Seed(1),
            account: &account,
        };
        users.open(user, &context)
    }

    #[tokio::test]
    async fn scripts_end_and_fixed_words_do_not() {
        let replies = vec!["a".to_owned(), "b".to_owned()];
        let mut script = open(&Users::default(), &User::Script(replies)).unwrap();
        let mut fixed = open(&Users::default(), &User::Fixed("same".to_owned())).unwrap();
        let mut exit = open(&Users::default(), &User::Fixed(format!(" {EXIT}\n"))).unwrap();
        for expected in [Some("a"), Some("b"), None, None] {
            let expected = expected.map_or(Reply::Nothing, |text| Reply::Words(text.to_owned()));
            assert_eq!(said(script.as_mut(), "m").await, expected);
            let same = Reply::Words("same".to_owned());
            assert_eq!(said(fixed.as_mut(), "m").await, same);
            assert_eq!(said(exit.as_mut(), "m").await, Reply::Exit);
        }
    }

    #[derive(Debug)]
    struct Parrot;

    #[async_trait]
    impl Person for Parrot {
        async fn ask(&self, message: &str) -> Result<String, UserError> {
            Ok(message.to_owned())
        }
    }

    #[tokio::test]
    async fn a_person_is_asked_only_where_there_is_one() {
        let error = open(&Users::default(), &User::Person).unwrap_err();
        assert!(matches!(error, UserError::Nobody(_)), "{error:?}");
        let users = Users {
            person: Some(Arc::new(Parrot)),
            ..Users::default()
        };
        let mut person = open(&users, &User::Person).unwrap();
        assert!(person.takes().is_some());
        let words = Reply::Words("hello".to_owned());
        assert_eq!(said(person.as_mut(), "hello").await, words);
        assert_eq!(said(person.as_mut(), EXIT).await, Reply::Exit);
    }
}
