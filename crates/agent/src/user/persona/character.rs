//! A person whom a model plays. What it says is looked at before the agent hears it: a reply that
//! contradicts the person's facts is asked for again, and if that does not help the trial is not graded.

use std::time::Duration;

use agon_core::user::{EXIT, Persona};
use agon_core::{ModelFault, Purpose};
use agon_llm::{LlmError, Model};
use async_trait::async_trait;
use serde::Deserialize;

use super::part::{self, Exchange};
use super::quote::{Quotes, cut};
use super::truth;
use crate::user::contract::{Heard, Reply, Respondent, UserError};
use crate::user::users::UserContext;

/// How often a reply is asked for.
const TRIES: usize = 3;

/// Exchanges that the person remembers word by word.
const MEMORY: usize = 50;

/// For all calls of one reply, with what their services make us wait.
const LONGEST: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(in crate::user) struct Character {
    persona: Persona,
    instruction: String,
    speaker: Model,
    judge: Model,
    quotes: Quotes,
    before: Vec<Exchange>,
    /// Messages that the person still answers.
    patience: u32,
}

/// What the judge says.
#[derive(Debug, Deserialize)]
struct Truthfulness {
    truthful: bool,
    #[serde(default)]
    why: String,
}

impl Character {
    pub(in crate::user) fn new(
        persona: &Persona,
        context: &UserContext<'_>,
        model: &Model,
    ) -> Self {
        let seed = context.seed.0.to_le_bytes();
        let mut known = vec![seed.as_slice(), persona.goal.as_bytes()];
        known.push(persona.character.as_bytes());
        known.extend(persona.facts.iter().map(String::as_bytes));
        Self {
            quotes: Quotes::new(known),
            persona: persona.clone(),
            instruction: context.instruction.to_owned(),
            speaker: model.on(context.account, Purpose::User),
            judge: model.on(context.account, Purpose::Judge),
            before: Vec::new(),
            patience: persona.patience,
        }
    }

    /// What the person says next, unless it may not be said: then why.
    async fn draft(
        &self,
        message: &str,
        wrong: &[String],
    ) -> Result<Result<Reply, String>, UserError> {
        let (persona, quotes) = (&self.persona, &self.quotes);
        let before = &self.before;
        let request = part::speak(persona, &self.instruction, quotes, before, message, wrong);
        let said = self.speaker.ask(&request).await.map_err(unanswered)?;
        let said = cut(said.text().trim());
        if said.lines().any(|line| line.trim() == EXIT) {
            return Ok(Ok(Reply::Exit));
        }
        Ok(match self.mistake(message, &said).await? {
            None => Ok(Reply::Words(said)),
            Some(why) => Err(why),
        })
    }

    async fn mistake(&self, message: &str, said: &str) -> Result<Option<String>, UserError> {
        if said.is_empty() {
            return Ok(Some("it says nothing.".to_owned()));
        }
        let facts = || self.persona.facts.iter().map(String::as_str);
        let heard = || {
            let own = [
                &self.persona.goal,
                &self.persona.character,
                &self.instruction,
            ];
            let before = self.before.iter().map(|exchange| exchange.heard.as_str());
            let own = own.into_iter().map(String::as_str);
            own.chain(before).chain([message])
        };
        if let Some(truth::Twisted { said, known }) = truth::twisted(said, facts(), heard()) {
            return Ok(Some(format!("it says {said} where the facts say {known}.")));
        }
        if let Some(words) = truth::giveaway(said, facts().chain(heard())) {
            return Ok(Some(format!("it says `{words}`, which the person is not.")));
        }
        let request = part::judge(&self.persona, &self.quotes, said);
        let answer = self.judge.ask(&request).await.map_err(unanswered)?;
        let verdict = verdict(&answer.text())?;
        Ok((!verdict.truthful).then(|| {
            let why: String = verdict.why.chars().take(500).collect();
            format!("it does not agree with the facts: {why}")
        }))
    }
}

#[async_trait]
impl Respondent for Character {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        let Some(left) = self.patience.checked_sub(1) else {
            return Ok(Reply::Exit);
        };
        self.patience = left;
        let mut wrong = Vec::new();
        while wrong.len() < TRIES {
            match self.draft(heard.message, &wrong).await? {
                Ok(reply) => {
                    if let Reply::Words(said) = &reply {
                        self.remember(heard.message, said);
                    }
                    return Ok(reply);
                }
                Err(why) => wrong.push(why),
            }
        }
        Err(UserError::Untruthful(wrong.pop().unwrap_or_default()))
    }

    fn takes(&self) -> Option<Duration> {
        Some(LONGEST)
    }
}

impl Character {
    fn remember(&mut self, heard: &str, said: &str) {
        if self.before.len() == MEMORY {
            self.before.remove(0);
        }
        self.before.push(Exchange {
            heard: cut(heard),
            said: said.to_owned(),
        });
    }
}

/// Some services write more around it than was asked for.
fn verdict(text: &str) -> Result<Truthfulness, UserError> {
    let inner = text
        .find('{')
        .zip(text.rfind('}'))
        .and_then(|(from, to)| text.get(from..=to))
        .unwrap_or(text);
    serde_json::from_str(inner).map_err(|error| {
        let said: String = text.chars().take(200).collect();
        UserError::Model(format!("no verdict on its words: {error}: {said}"))
    })
}

fn unanswered(error: LlmError) -> UserError {
    match (error.fault, error.spent) {
        (ModelFault::Budget, Some(spent)) => UserError::Spent(spent),
        (ModelFault::NotOnTape | ModelFault::Authentication | ModelFault::Setup, _) => {
            UserError::Setup(error.to_string())
        }
        _ => UserError::Model(error.to_string()),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
