//! A state from the record of a trial, at its end or in the middle.

use agon_core::verdict::TurnEnd;
use agon_core::{Event, EventBody, Fault, Money, Source};
use agon_store::RunFolder;

use super::error::last_error;
use super::flag::{ControlFlag, TrafficControlState};
use super::shape::{AgentState, State};
use crate::config::AppConfig;
use crate::dialect::{NoBodies, Record, history_and_metrics, iso};
use crate::events::{Action, EventBody as Told, EventSource};
use crate::metrics::{Metrics, ModelNames, dollars};

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
        let mut at = None;
        for event in events {
            match &event.body {
                EventBody::End(end) => {
                    at = Some(event.seq);
                    ending.end = Some(*end);
                    ending.note = None;
                }
                EventBody::Fault(fault) => ending.fault = Some(fault),
                // Only why it ended has the end as its cause; there are notes of all kinds.
                EventBody::Note(note)
                    if event.source == Source::Harness && at.is_some() && event.cause == at =>
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
        // Of a session, those since it was gone on with: the limit is for these.
        let since = record.events.iter().rev();
        let since = since.take_while(|event| !matches!(event.body, EventBody::Instruction(_)));
        let steps = since
            .filter(|event| matches!(event.body, EventBody::Action(_) | EventBody::Refused(_)));
        let steps = steps.count() as u64;
        let begun = begun(record.events, &history);
        let budget = |most| ControlFlag::at(metrics.accumulated_cost, dollars(most));
        let outputs = history[begun..]
            .iter()
            .rev()
            .find_map(|event| match &event.body {
                Told::Action(Action::Finish(finish)) => Some(finish.outputs.clone()),
                Told::Action(Action::Reject(reject)) => Some(reject.outputs.clone()),
                _ => None,
            });
        let iteration_flag = ControlFlag::at(steps, u64::from(bounds.max_iterations));
        let budget_flag = bounds.max_budget.map(budget);
        let spent = budget_flag.as_ref().is_some_and(|flag| flag.hit_limit);
        Self {
            session_id: session.to_owned(),
            iteration: steps,
            local_iteration: steps,
            max_iterations: iteration_flag.max_value,
            traffic_control_state: match iteration_flag.hit_limit || spent {
                true => TrafficControlState::Throttling,
                false => TrafficControlState::Normal,
            },
            local_metrics: metrics.clone(),
            iteration_flag,
            conversation_stats: Metrics::by_service(record, &metrics),
            budget_flag,
            outputs: outputs.unwrap_or_default(),
            agent_state: agent_state(&history, ending),
            start_id: i64::try_from(begun).unwrap_or(i64::MAX),
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
        let models = config.model_names();
        let record = Record {
            events,
            instruction: Some(instruction),
            agent: &config.default_agent,
            bodies: folder,
            models: Some(&models),
        };
        let ending = Ending {
            end: end.as_ref().ok().copied(),
            fault: end.as_ref().err(),
            note,
        };
        Self::of(&record, &folder.name(), config.bounds(), ending)
    }

    /// What whoever answers for the user sees.
    pub(crate) fn so_far(
        events: &[Event],
        agent: &str,
        models: &ModelNames,
        bounds: Bounds,
    ) -> Self {
        let instruction = events.iter().find_map(|event| match &event.body {
            EventBody::Instruction(text) => Some(text.as_str()),
            _ => None,
        });
        let record = Record {
            events,
            instruction,
            agent,
            bodies: &NoBodies,
            models: Some(models),
        };
        Self::of(&record, "", bounds, Ending::default())
    }
}

/// Where in a history that begins the agent's last turn: 0, unless a session was gone on with.
fn begun(events: &[Event], history: &[crate::events::Event]) -> usize {
    let mut asked = events.iter().filter_map(|event| match &event.body {
        EventBody::Instruction(text) => Some((text, event.at)),
        _ => None,
    });
    let (Some(_), Some((text, at))) = (asked.next(), asked.next_back()) else {
        return 0;
    };
    let at = iso(at);
    let is_it = |event: &crate::events::Event| {
        event.timestamp.as_ref() == Some(&at) && event.words_of(EventSource::User) == Some(text)
    };
    history.iter().rposition(is_it).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: u64, source: Source, cause: Option<u64>, body: EventBody) -> Event {
        Event {
            seq,
            t: 0.0,
            at: jiff::Timestamp::UNIX_EPOCH,
            source,
            cause,
            body,
        }
    }

    #[test]
    fn why_it_ended_is_what_the_end_is_the_cause_of_and_no_other_note() {
        let note = |text: &str| EventBody::Note(text.to_owned());
        let harness = Source::Harness;
        let mut events = vec![
            event(0, harness, None, note("12 bytes of output were not kept")),
            event(1, harness, None, EventBody::End(TurnEnd::StepLimit)),
            event(2, harness, None, note("complete: exit status 1")),
        ];
        let ending = Ending::of(&events);
        assert_eq!((ending.end, ending.note), (Some(TurnEnd::StepLimit), None));
        let why = note("the turn ended after 5 steps");
        events.insert(2, event(3, harness, Some(1), why));
        let ending = Ending::of(&events);
        assert_eq!(ending.note, Some("the turn ended after 5 steps"));
        // A later end has reasons of its own.
        events.push(event(
            4,
            harness,
            None,
            EventBody::End(TurnEnd::BroughtDown),
        ));
        let ending = Ending::of(&events);
        assert_eq!(
            (ending.end, ending.note),
            (Some(TurnEnd::BroughtDown), None)
        );
    }
}
