//! A person whom a model plays. What it says is looked at before the agent hears it: a reply that
//! contradicts the person's facts is asked for again, and if that does not help the person says nothing of
//! substance. That an agent's words confuse the model is no fault of ours, or any agent could fault at will.

use std::time::Duration;

use agon_core::user::{EXIT, Persona};
use agon_core::{ModelFault, Purpose};
use agon_llm::{LlmError, Model, Request};
use async_trait::async_trait;
use serde::Deserialize;

use super::memory::Memory;
use super::part;
use super::quote::{Quotes, cut};
use super::truth;
use crate::user::contract::{Heard, Reply, Respondent, UserError};
use crate::user::users::UserContext;

/// How often a reply is asked for.
const TRIES: usize = 3;

/// What the person says in place of what may not be said. Agrees with any facts and helps nobody.
pub(super) const NOTHING_OF_SUBSTANCE: &str = "I have nothing to say to that.";

/// For all calls of one reply, with what their services make us wait.
const LONGEST: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(in crate::user) struct Character {
    persona: Persona,
    instruction: String,
    speaker: Model,
    judge: Model,
    quotes: Quotes,
    before: Memory,
    /// Messages that the person still answers.
    patience: u32,
    /// Why the last answer is none of the model's.
    remark: Option<String>,
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
            before: Memory::default(),
            patience: persona.patience,
            remark: None,
        }
    }

    /// What the person says next, unless it may not be said: then why.
    async fn draft(
        &mut self,
        message: &str,
        wrong: &[String],
    ) -> Result<Result<Reply, String>, UserError> {
        let request = self.speech(message, wrong);
        let said = match self.speaker.ask(&request).await {
            Ok(said) => cut(said.text().trim()),
            Err(error) => {
                if error.fault == ModelFault::ContextOverflow {
                    self.before.forget_half();
                }
                let harmless = part::speak(
                    &self.persona,
                    &self.instruction,
                    &self.quotes,
                    [],
                    "Hello.",
                    &[],
                );
                return caused(&self.speaker, error, &harmless).await.map(Err);
            }
        };
        if said.lines().any(|line| line.trim() == EXIT) {
            return Ok(Ok(Reply::Exit));
        }
        Ok(match self.mistake(message, &said).await? {
            None => Ok(Reply::Words(said)),
            Some(why) => Err(why),
        })
    }

    fn speech(&self, message: &str, wrong: &[String]) -> Request {
        let (persona, quotes) = (&self.persona, &self.quotes);
        let before = self.before.exchanges();
        part::speak(persona, &self.instruction, quotes, before, message, wrong)
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
            let before = self.before.exchanges();
            let before = before.map(|exchange| exchange.heard.as_str());
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
        let answer = match self.judge.ask(&request).await {
            Ok(answer) => answer.text(),
            Err(error) => {
                let harmless = part::judge(&self.persona, &self.quotes, NOTHING_OF_SUBSTANCE);
                return caused(&self.judge, error, &harmless).await.map(Some);
            }
        };
        Ok(match verdict(&answer) {
            Ok(verdict) if verdict.truthful => None,
            Ok(verdict) => {
                let why: String = verdict.why.chars().take(500).collect();
                Some(format!("it does not agree with the facts: {why}"))
            }
            Err(why) => Some(why),
        })
    }
}

#[async_trait]
impl Respondent for Character {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        self.remark = None;
        let Some(left) = self.patience.checked_sub(1) else {
            return Ok(Reply::Exit);
        };
        self.patience = left;
        let mut wrong = Vec::new();
        while wrong.len() < TRIES {
            match self.draft(heard.message, &wrong).await? {
                Ok(reply) => {
                    if let Reply::Words(said) = &reply {
                        self.before.add(heard.message, said);
                    }
                    return Ok(reply);
                }
                Err(why) => wrong.push(why),
            }
        }
        // Nor is the message remembered, which may be what the model can't cope with.
        self.remark = wrong.pop().map(|why| {
            format!("the simulated user said nothing of substance, after {TRIES} drafts; of the last: {why}")
        });
        Ok(Reply::Words(NOTHING_OF_SUBSTANCE.to_owned()))
    }

    fn remark(&mut self) -> Option<String> {
        self.remark.take()
    }

    fn takes(&self) -> Option<Duration> {
        Some(LONGEST)
    }
}

/// Some services write more around it than was asked for.
fn verdict(text: &str) -> Result<Truthfulness, String> {
    let inner = text
        .find('{')
        .zip(text.rfind('}'))
        .and_then(|(from, to)| text.get(from..=to))
        .unwrap_or(text);
    serde_json::from_str(inner).map_err(|error| format!("there is no verdict on it: {error}."))
}

/// Why a model that is there did not answer such a request; any other failure is an error. A service that
/// takes no request at all is not set up for us: that shows by one which holds nothing of the agent's.
async fn caused(model: &Model, error: LlmError, harmless: &Request) -> Result<String, UserError> {
    let fault = error.fault;
    let answered = match fault {
        ModelFault::BadRequest => model.ask(harmless).await.is_ok(),
        // The agent's words are in every request of ours: it could say what no tape has.
        ModelFault::NotOnTape => true,
        fault => fault != ModelFault::Budget && !fault.of_service(),
    };
    if answered {
        return Ok(format!("the model gave no answer ({fault})."));
    }
    Err(match (fault, error.spent) {
        (ModelFault::Budget, Some(spent)) => UserError::Spent(spent),
        (ModelFault::Authentication | ModelFault::Setup, _) => UserError::Setup(error.to_string()),
        _ => UserError::Model(error.to_string()),
    })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
