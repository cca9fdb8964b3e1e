//! What was done in earlier conversations of a session, taken from their record into the agent's history:
//! the model is shown its own calls and what came of them. Nothing of it is done again.

use agon_core::observation::ObservationKind;
use agon_core::{Action, ActionKind, Called, Event, EventBody, Observation, Picture};
use agon_llm::{Part, ToolCall};
use agon_store::RunFolder;
use serde_json::Value;

use super::agent::{CodeAct, Pending};
use super::calls::{self, Wanted};
use super::history::Outcome;
use super::tools::ToolKind;
use super::{scripted, seen};
use crate::dialect::{self, Bodies};
use crate::metrics::is_of_agent;

const INTERRUPTED: &str = "The conversation was interrupted here: what this came to is not known. It may \
                           have been carried out, wholly or in part.";
const ENDED: &str = "The turn was over.";
const SHORTER: &str = "The history is shorter now.";

/// The record of earlier conversations, all of them in their order.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) events: Vec<Event>,
    /// Where what is kept apart from events stands.
    pub(crate) folder: RunFolder,
}

/// What belongs to the next step.
#[derive(Debug, Default)]
struct Coming {
    /// The model's last answer.
    response: Value,
    called: Option<Called>,
    thought: Option<String>,
    /// The last step was a call of the same answer.
    goes_on: bool,
}

impl CodeAct {
    /// Takes it into the history.
    pub(super) fn remember(&mut self, past: &Past) {
        let mut coming = Coming::default();
        for event in &past.events {
            match &event.body {
                EventBody::Instruction(text) => {
                    self.settle();
                    coming = Coming::default();
                    self.history.asked(text);
                }
                EventBody::Model(call) if is_of_agent(call.purpose) && call.fault.is_none() => {
                    let said = call.response.as_ref();
                    let response = said.and_then(|said| Bodies::said(&past.folder, said));
                    coming = Coming {
                        response: response.unwrap_or_default(),
                        ..Coming::default()
                    };
                }
                EventBody::Condensed(gone) => self.history.forget_steps(gone),
                EventBody::Called(called) => coming.called = Some(called.clone()),
                EventBody::Thought(thought) => coming.thought = Some(thought.clone()),
                EventBody::Action(action) => self.did(action, &mut coming),
                EventBody::Refused(text) => {
                    (coming.called, coming.thought) = (None, None);
                    coming.goes_on = false;
                    self.history.said(vec![Part::Text(text.clone())]);
                    self.history.step();
                    self.pending = Pending::Words;
                }
                EventBody::Observation(seen) => self.saw(seen, past),
                _ => {}
            }
        }
        self.settle();
        self.next = self
            .history
            .exchanges()
            .last()
            .map_or(0, |last| last.outcomes.len());
    }

    fn did(&mut self, action: &Action, coming: &mut Coming) {
        let called = coming.called.take();
        let thought = coming.thought.take().map(Part::Text);
        let part = match &called {
            Some(called) => call_of(called, action, &coming.response),
            None => scripted::said(action),
        };
        let goes_on = std::mem::replace(&mut coming.goes_on, called.is_some());
        self.pending = match part {
            Part::ToolCall(call) => {
                let answer = self.own_answer(&call, action);
                let nth = if goes_on {
                    self.history.called(call)
                } else {
                    let parts = thought.into_iter().chain([Part::ToolCall(call)]);
                    self.history.said(parts.collect());
                    0
                };
                Pending::Call { nth, answer }
            }
            words => {
                coming.goes_on = false;
                self.history
                    .said(thought.into_iter().chain([words]).collect());
                Pending::Words
            }
        };
        self.history.step();
    }

    /// What a call came to that the environment had no part in.
    fn own_answer(&mut self, call: &ToolCall, action: &Action) -> Option<String> {
        if let Action::Finish { .. } | Action::Reject { .. } = action {
            return Some(ENDED.to_owned());
        }
        match calls::read(call, &ToolKind::ALL, &ActionKind::ALL) {
            Ok(Wanted::Track(list)) => self.track(list).1,
            Ok(Wanted::Condense) => Some(SHORTER.to_owned()),
            Ok(Wanted::Act(_)) | Err(_) => None,
        }
    }

    fn saw(&mut self, seen: &Observation, past: &Past) {
        let mut seen = seen.clone();
        let whole = |picture: &mut Picture| match Bodies::picture(&past.folder, picture) {
            Some(whole) => *picture = whole,
            None => *picture = picture.without_data(),
        };
        seen.pictures.iter_mut().for_each(whole);
        let of_words = matches!(
            seen.kind,
            ObservationKind::Reply | ObservationKind::Error | ObservationKind::Refused
        );
        if matches!(self.pending, Pending::Words) && !of_words {
            // Something that no tool does: the model is told in words what it came to.
            self.pending = Pending::Nothing;
            if let Some(last) = self.history.last_mut() {
                last.reply = Some(seen::outcome(&seen, None).text);
            }
            return;
        }
        self.take_in(&seen);
    }

    /// A conversation is over: a call whose result never came is not left without one.
    fn settle(&mut self) {
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        let (Pending::Call { nth, answer }, Some(last)) = (pending, self.history.last_mut()) else {
            return;
        };
        if let Some(place) = last.outcomes.get_mut(nth) {
            *place = Some(Outcome {
                is_error: answer.is_none(),
                text: answer.unwrap_or_else(|| INTERRUPTED.to_owned()),
                ..Outcome::default()
            });
        }
    }
}

/// The call as the model made it, or else one that does the same.
fn call_of(called: &Called, action: &Action, response: &Value) -> Part {
    let id = called.id.clone();
    match (
        dialect::arguments(response, &called.id),
        scripted::said(action),
    ) {
        (Some(given), _) => Part::ToolCall(ToolCall {
            id,
            name: called.function.clone(),
            input: Value::Object(given),
            raw: None,
        }),
        (None, Part::ToolCall(call)) => Part::ToolCall(ToolCall { id, ..call }),
        (None, words) => words,
    }
}
