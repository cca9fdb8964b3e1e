//! One question put to a judge, as often as there are votes. A model that does not answer is a fault, and so
//! is one that does not answer in the one form; neither is ever a verdict.

use std::sync::Arc;

use agon_core::{Fault, FaultClass, ModelFault, Purpose, Usage, Vote};
use agon_llm::{Account, LlmError, Model, Sampling};

use super::answer;
use super::exhibit::{Exhibit, Room};
use super::judging::JudgeOptions;
use super::question::Question;
use super::quote::{Marks, cut};

/// How often one vote is asked for, where an answer can't be read.
const TRIES: usize = 2;

/// How often a question is made shorter that is too long for the model.
const HALVINGS: u32 = 2;

/// Of votes that shall not all be the same.
const LIVELY: f64 = 0.7;

/// How a fault begins that what the one under test left may be the cause of.
const REFUSED: &str = "suspicious: the judge's service refuses to read this evidence, and answers without it \
                       (look at the trial, or name another judge with --judge)";

/// Characters of a fault that show an answer.
const SHOWN: usize = 200;

#[derive(Debug)]
pub(super) struct Sitting<'a> {
    model: Model,
    question: &'a Question<'a>,
    marks: Marks,
    room: Room,
    exhibit: Exhibit,
    usage: Usage,
    several: bool,
}

impl<'a> Sitting<'a> {
    pub(super) async fn open(
        model: &Model,
        account: &Arc<Account>,
        options: &JudgeOptions,
        question: &'a Question<'a>,
    ) -> Result<Self, Fault> {
        let marks = Marks::new(options.nonce_seed)?;
        let room = Room {
            pictures: options.picture_tokens,
            tight: 0,
            sees: model.spec().sees(),
        };
        Ok(Self {
            exhibit: Exhibit::of(question, room, &marks).await?,
            model: model.on(account, Purpose::Judge),
            question,
            marks,
            room,
            usage: Usage::default(),
            several: options.votes > 1,
        })
    }

    pub(super) const fn exhibit(&self) -> &Exhibit {
        &self.exhibit
    }

    /// Of all answers so far, those that could not be read as well.
    pub(super) fn usage(&self) -> Usage {
        self.usage.clone()
    }

    pub(super) async fn vote(&mut self, nth: usize) -> Result<Vote, Fault> {
        let mut wrong = String::new();
        for attempt in 0..TRIES {
            match self.answer(nth, attempt > 0).await? {
                Ok(vote) => return Ok(vote),
                Err(why) => wrong = why,
            }
        }
        let why = format!(
            "the judge `{}` gave no answer that can be read, {TRIES} times: {wrong}",
            self.model.spec().name
        );
        Err(Fault::new(FaultClass::Judge, why))
    }

    /// A vote, or why the answer is none.
    async fn answer(&mut self, nth: usize, again: bool) -> Result<Result<Vote, String>, Fault> {
        loop {
            let request = self.exhibit.request(self.sampling(nth), again);
            match self.model.ask(&request).await {
                Ok(reply) => {
                    self.usage += &reply.usage;
                    let text = reply.text();
                    let shown = || cut(&text, SHOWN);
                    let vote = answer::read(&text, self.exhibit.steps);
                    return Ok(vote.map_err(|why| format!("{why}: {:?}", shown())));
                }
                Err(error) if error.fault == ModelFault::ContextOverflow => {
                    if self.room.tight == HALVINGS {
                        return Err(self.fault(&error));
                    }
                    self.room.tight += 1;
                    self.room.pictures /= 2;
                    self.exhibit = Exhibit::of(self.question, self.room, &self.marks).await?;
                }
                Err(error) if error.fault == ModelFault::BadAnswer => {
                    return Ok(Err(error.message().to_owned()));
                }
                Err(error) if error.fault == ModelFault::Refusal => {
                    return Err(self.refused(nth, &error).await);
                }
                Err(error) => return Err(self.fault(&error)),
            }
        }
    }

    /// Who writes what a service refuses to read gets no verdict. Whether it was that is found out by asking
    /// once without the evidence, and told: somebody should look at it.
    async fn refused(&mut self, nth: usize, error: &LlmError) -> Fault {
        let request = self.exhibit.withheld(self.sampling(nth));
        let read = match self.model.ask(&request).await {
            Ok(reply) => {
                self.usage += &reply.usage;
                true
            }
            Err(other) => other.fault == ModelFault::BadAnswer,
        };
        let fault = self.fault(error);
        match read {
            true => Fault {
                message: format!("{REFUSED}: {}", fault.message),
                ..fault
            },
            false => fault,
        }
    }

    /// One vote is to be the same each time; several are worth something only where they could differ.
    fn sampling(&self, nth: usize) -> Sampling {
        Sampling {
            temperature: Some(if self.several { LIVELY } else { 0.0 }),
            seed: i64::try_from(nth + 1).ok().filter(|_| self.several),
            ..Sampling::default()
        }
    }

    fn fault(&self, error: &LlmError) -> Fault {
        let class = match error.fault {
            ModelFault::NotOnTape | ModelFault::Authentication | ModelFault::Setup => {
                FaultClass::ModelSetup
            }
            ModelFault::Budget => FaultClass::Model,
            _ => FaultClass::Judge,
        };
        let name = &self.model.spec().name;
        let advice = match error.fault {
            ModelFault::ContextOverflow => " (name one that can read more with --judge)",
            _ => "",
        };
        let why = format!("the judge `{name}` did not answer: {error}{advice}");
        Fault::new(class, why)
    }
}
