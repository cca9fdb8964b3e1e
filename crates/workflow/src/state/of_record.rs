//! A state from the record of a trial, at its end or in the middle.

use agon_core::verdict::TurnEnd;
use agon_core::{Event, EventBody, Fault, Money, Source};
use agon_store::RunFolder;

use super::error::last_error;
use super::flag::ControlFlag;
use super::shape::{AgentState, State};
use crate::config::AppConfig;
use crate::dialect::{NoBodies, Record, history_and_metrics};
use crate::events::{Action, EventBody as Told};
use crate::metrics::{Metrics, dollars};

/// What the agent was allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    pub max_iterations: u32,
    pub max_budget: Option<Money>,
}

/// How a turn ended, if it has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ending<'a> {
    pub end: Option<TurnEnd>,
    pub fault: Option<&'a Fault>,
    /// Why, in words.
    pub note: Option<&'a str>,
}

impl<'a> Ending<'a> {
    /// As the record itself tells.
    pub fn of(events: &'a [Event]) -> Self {
        let mut ending = Self::default();
        for event in events {
            match &event.body {
                EventBody::End(end) => ending.end = Some(*end),
                EventBody::Fault(fault) => ending.fault = Some(fault),
                // What follows is about grading.
                EventBody::Note(note)
                    if event.source == Source::Harness && ending.end.is_none() =>
                {
                    ending.note = Some(note);
                }
                _ => {}
            }
        }
        ending
    }
}

impl State {
    pub fn of(record: &Record<'_>, session: &str, bounds: Bounds, ending: Ending<'_>) -> Self {
        let (history, metrics) = history_and_metrics(record, bounds.max_budget);
        let steps = record
            .events
            .iter()
            .filter(|event| matches!(event.body, EventBody::Action(_) | EventBody::Refused(_)));
        let steps = steps.count() as u64;
        let budget = |most| ControlFlag::at(metrics.accumulated_cost, dollars(most));
        let outputs = history.iter().rev().find_map(|event| match &event.body {
            Told::Action(Action::Finish(finish)) => Some(finish.outputs.clone()),
            Told::Action(Action::Reject(reject)) => Some(reject.outputs.clone()),
            _ => None,
        });
        Self {
            session_id: session.to_owned(),
            iteration_flag: ControlFlag::at(steps, u64::from(bounds.max_iterations)),
            conversation_stats: Metrics::by_service(record, &metrics),
            budget_flag: bounds.max_budget.map(budget),
            outputs: outputs.unwrap_or_default(),
            agent_state: agent_state(&history, ending),
            start_id: 0,
            end_id: -1,
            last_error: last_error(ending.end, ending.fault, ending.note),
            end: ending.end,
            fault: ending.fault.cloned(),
            metrics,
            history,
            ..Self::default()
        }
    }

    /// A conversation of a program's own, once it is over.
    pub(crate) fn ended(
        instruction: &str,
        events: &[Event],
        folder: &RunFolder,
        config: &AppConfig,
        end: &Result<TurnEnd, Fault>,
        note: Option<&str>,
    ) -> Self {
        let record = Record {
            events,
            instruction: Some(instruction),
            agent: &config.default_agent,
            bodies: folder,
        };
        let bounds = Bounds {
            max_iterations: config.max_iterations,
            max_budget: config.max_budget_per_task,
        };
        let ending = Ending {
            end: end.as_ref().ok().copied(),
            fault: end.as_ref().err(),
            note,
        };
        Self::of(&record, &folder.name(), bounds, ending)
    }

    /// What whoever answers for the user sees.
    pub(crate) fn so_far(events: &[Event]) -> Self {
        let instruction = events.iter().find_map(|event| match &event.body {
            EventBody::Instruction(text) => Some(text.as_str()),
            _ => None,
        });
        let record = Record {
            events,
            instruction,
            agent: "",
            bodies: &NoBodies,
        };
        Self::of(&record, "", Bounds::default(), Ending::default())
    }
}

fn agent_state(history: &[crate::events::Event], ending: Ending<'_>) -> AgentState {
    if ending.fault.is_some() {
        return AgentState::Error;
    }
    match ending.end {
        Some(TurnEnd::Finished | TurnEnd::WorldEnded) => AgentState::Finished,
        Some(TurnEnd::Rejected) => AgentState::Rejected,
        Some(TurnEnd::Operator | TurnEnd::Left) => AgentState::Stopped,
        Some(_) => AgentState::Error,
        None => match history.last().and_then(crate::events::Event::action) {
            Some(Action::Message(message)) if message.wait_for_response => {
                AgentState::AwaitingUserInput
            }
            Some(_) => AgentState::Running,
            None if history.is_empty() => AgentState::Loading,
            None => AgentState::Running,
        },
    }
}
