//! Puts a question about a recorded trial to a judge, apart from any check: to find out how far the judge
//! can be trusted.

use std::sync::Arc;

use agon_core::check::ProseSubject;
use agon_core::{Event, EventBody, Fault, FaultClass, Judged};
use agon_grade::{Evidence, FlowStep, Judge, Question, Shown};
use agon_llm::Account;
use agon_store::{RunReader, TrialLine};

use crate::pictures::Kept as Pictures;
use crate::seen::Seen;

/// What a judge says about the whole of a trial: whether the agent did what it was asked to.
pub async fn hear(
    judge: &Judge,
    account: &Arc<Account>,
    reader: &RunReader,
    line: &TrialLine,
) -> Result<(bool, Judged), Fault> {
    let events = reader.events(line).map_err(lost)?;
    let instruction = instruction(&events).ok_or_else(|| {
        Fault::new(
            FaultClass::Evidence,
            "the record does not say what was asked",
        )
    })?;
    let actions = Evidence::actions_of(events.iter().cloned());
    let last = match Seen::recorded(&events).last {
        Some(picture) => Some(reader.picture(&picture).map_err(lost)?),
        None => None,
    };
    let flow = FlowStep::of(&events);
    let question = Question {
        instruction,
        subject: &ProseSubject::ExpectedFlow,
        value: WHOLE,
        shown: Shown {
            result: Evidence::result_of(&actions, line.end),
            last: last.as_ref().and_then(|picture| picture.data()),
            flow: &flow,
            pictures: &Pictures(reader.folder()),
            ran: None,
        },
    };
    judge.ask(account, &question).await
}

const WHOLE: &str = "The agent has done everything that the task asks for, completely and correctly, and \
                     nothing that undoes it again.";

fn instruction(events: &[Event]) -> Option<&str> {
    events.iter().find_map(|event| match &event.body {
        EventBody::Instruction(text) => Some(text.as_str()),
        _ => None,
    })
}

fn lost(error: agon_store::StoreError) -> Fault {
    Fault::new(FaultClass::Evidence, error)
}
