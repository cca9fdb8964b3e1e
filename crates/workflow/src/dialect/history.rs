//! The record of a trial as a history: what OpenHands would have in its event stream, without changes of
//! state. Numbers count from 0; an observation names the action that caused it.

use std::collections::HashMap;

use agon_core::observation::ObservationKind;
use agon_core::{
    Called, Condensation, Event as CoreEvent, EventBody as Body, Money, Observation as Seen,
};
use jiff::Timestamp;
use serde_json::Value;

use super::foreign::foreign_action;
use super::observation::observation;
use super::opening::Opening;
use super::record::Record;
use super::stamp::iso;
use super::tracked::tracked;
use crate::events::{
    Action, CondensationAction, ErrorObservation, Event, EventBody, EventSource, MessageAction,
    Observation, SystemMessageAction, ToolCallMetadata,
};
use crate::metrics::{Metrics, is_of_agent};

/// Bytes of pictures that a history shows; those that come later are left out of it. Whoever reads a row
/// has all of it in memory.
const MOST_OF_PICTURES: u64 = 64 << 20;

pub fn history(record: &Record<'_>) -> Vec<Event> {
    history_and_metrics(record, None).0
}

/// Both at once: what was said to models is read only once.
pub(crate) fn history_and_metrics(
    record: &Record<'_>,
    budget: Option<Money>,
) -> (Vec<Event>, Metrics) {
    with_pictures_up_to(MOST_OF_PICTURES, record, budget)
}

pub(super) fn with_pictures_up_to(
    most: u64,
    record: &Record<'_>,
    budget: Option<Money>,
) -> (Vec<Event>, Metrics) {
    let mut teller = Teller {
        record,
        told: Vec::new(),
        metrics: Metrics::default(),
        response: Value::Null,
        called: None,
        thought: String::new(),
        places: HashMap::new(),
        steps: Vec::new(),
        forgotten: Vec::new(),
        room: most,
        asked: false,
        wishes: Vec::new(),
    };
    teller.open();
    for event in record.events {
        teller.tell(event);
    }
    let metrics = teller.metrics.of_trial(record, budget);
    (teller.told, metrics)
}

struct Teller<'a> {
    record: &'a Record<'a>,
    told: Vec<Event>,
    metrics: Metrics,
    /// The model's last answer.
    response: Value,
    /// What belongs to the next action.
    called: Option<Called>,
    thought: String,
    /// Where in the history the action of an event of the record stands.
    places: HashMap<u64, usize>,
    /// The numbers of each step of the agent: the first, and the one after the last.
    steps: Vec<(u64, u64)>,
    /// Numbers that the model is not shown any more: the first, and the one after the last.
    forgotten: Vec<(u64, u64)>,
    /// For the bytes of pictures.
    room: u64,
    /// The first task was met.
    asked: bool,
    /// The numbers of what was asked for later, which is never forgotten.
    wishes: Vec<u64>,
}

impl Teller<'_> {
    /// What was there before the agent did anything.
    fn open(&mut self) {
        let opening = Opening::of(self.record);
        let at = self
            .record
            .events
            .first()
            .map_or(Timestamp::UNIX_EPOCH, |event| event.at);
        if let Some(content) = opening.system {
            let system = SystemMessageAction {
                content,
                tools: opening.tools,
                openhands_version: None,
                agent_class: Some(self.record.agent.to_owned()),
            };
            self.push(at, EventSource::Agent, Action::from(system));
        }
        let task = self.record.instruction.map(str::to_owned).or(opening.task);
        if let Some(task) = task {
            let message = MessageAction::new(task);
            self.push(at, EventSource::User, Action::from(message));
        }
    }

    fn push(
        &mut self,
        at: Timestamp,
        source: EventSource,
        body: impl Into<EventBody>,
    ) -> &mut Event {
        let event = Event {
            id: Some(self.told.len() as u64),
            timestamp: Some(iso(at)),
            ..Event::new(source, body)
        };
        self.told.push(event);
        let last = self.told.len() - 1;
        &mut self.told[last]
    }

    fn tell(&mut self, event: &CoreEvent) {
        match &event.body {
            Body::Model(call) if is_of_agent(call.purpose) => {
                let said = call.response.as_ref();
                let response = said.and_then(|said| self.record.bodies.said(said));
                let model = self.record.model_of(call);
                self.metrics
                    .add_call(model, call, event.at, response.as_ref());
                if call.fault.is_none() {
                    self.response = response.unwrap_or(Value::Null);
                }
            }
            // What was asked for first stands at the beginning.
            Body::Instruction(text) if std::mem::replace(&mut self.asked, true) => {
                let message = MessageAction::new(text);
                self.push(event.at, EventSource::User, Action::from(message));
                self.wishes.push(self.told.len() as u64 - 1);
            }
            Body::Condensed(condensed) => self.condense(event.at, condensed),
            Body::Called(called) => self.called = Some(called.clone()),
            Body::Thought(thought) => self.thought.clone_from(thought),
            Body::Action(action) => {
                let thought = std::mem::take(&mut self.thought);
                let action = foreign_action(action, &thought);
                let action = tracked(action, self.called.as_ref(), &self.response);
                let metadata = self.called.take().map(|called| ToolCallMetadata {
                    function_name: called.function,
                    tool_call_id: called.id,
                    model_response: self.response.clone(),
                    total_calls_in_response: i64::from(called.of),
                });
                let metrics =
                    (!self.metrics.token_usages.is_empty()).then(|| self.metrics.snapshot());
                self.begin_step(event.seq);
                let told = self.push(event.at, EventSource::Agent, action);
                told.tool_call_metadata = metadata;
                told.llm_metrics = metrics;
            }
            Body::Refused(_) => {
                (self.called, self.thought) = (None, String::new());
                let next = self.told.len() as u64;
                self.steps.push((next, next));
            }
            Body::Observation(seen) => {
                let before = self.told.len();
                self.see(event, seen);
                let told = self.told.len();
                if let Some((_, end)) = self.steps.last_mut().filter(|_| told > before) {
                    *end = told as u64;
                }
            }
            _ => {}
        }
    }

    fn begin_step(&mut self, seq: u64) {
        let next = self.told.len();
        self.places.insert(seq, next);
        self.steps.push((next as u64, next as u64 + 1));
    }

    fn see(&mut self, event: &CoreEvent, seen: &Seen) {
        if seen.kind == ObservationKind::Reply {
            let words = MessageAction::new(&seen.text);
            self.push(event.at, EventSource::User, Action::from(words));
            return;
        }
        let place = event.cause.and_then(|cause| self.places.get(&cause));
        let Some(place) = place.copied() else {
            // Nothing caused it but an answer that was no action.
            if seen.kind == ObservationKind::Refused {
                let error = Observation::from(ErrorObservation::new(&seen.text));
                self.push(event.at, EventSource::Agent, error);
            }
            return;
        };
        let drawn = self.with_pictures(seen);
        let cause = &self.told[place];
        let (Some(action), id) = (cause.action(), cause.id) else {
            return;
        };
        let told = observation(drawn.as_ref().unwrap_or(seen), action);
        if matches!(told, Observation::Null(_)) {
            return;
        }
        let metadata = cause.tool_call_metadata.clone();
        let event = self.push(event.at, EventSource::Agent, told);
        event.cause = id;
        event.tool_call_metadata = metadata;
    }

    /// With the bytes of its pictures, as long as there is room. `None`: it has no pictures.
    fn with_pictures(&mut self, seen: &Seen) -> Option<Seen> {
        if seen.pictures.is_empty() {
            return None;
        }
        let mut seen = seen.clone();
        let mut left_out = 0;
        for picture in &mut seen.pictures {
            match self.room.checked_sub(picture.bytes) {
                Some(room) => {
                    self.room = room;
                    if picture.data().is_none()
                        && let Some(whole) = self.record.bodies.picture(picture)
                    {
                        *picture = whole;
                    }
                }
                None => {
                    // Small ones that come later don't take the place of this one.
                    self.room = 0;
                    left_out += 1;
                    *picture = picture.without_data();
                }
            }
        }
        if left_out > 0 {
            seen.text += &format!("\n[{left_out} pictures are left out: see the run folder]");
        }
        Some(seen)
    }

    fn condense(&mut self, at: Timestamp, condensed: &Condensation) {
        let step = |number: u32| {
            let place = usize::try_from(number.checked_sub(1)?).ok()?;
            self.steps.get(place).copied()
        };
        let (Some((first, _)), Some((_, end))) = (step(condensed.from), step(condensed.to)) else {
            return;
        };
        if end <= first {
            return;
        }
        let gone: u64 = self
            .forgotten
            .iter()
            .map(|(from, to)| to.min(&first).saturating_sub(*from))
            .sum();
        self.forgotten.push((first, end));
        let number = |id: u64| i64::try_from(id).unwrap_or(i64::MAX);
        let kept = |id: &u64| self.wishes.contains(id);
        let (from, to, each) = match (first..end).any(|id| kept(&id)) {
            false => (Some(number(first)), Some(number(end - 1)), None),
            true => {
                let each = (first..end).filter(|id| !kept(id)).map(number);
                (None, None, Some(each.collect()))
            }
        };
        let condensation = CondensationAction {
            forgotten_event_ids: each,
            forgotten_events_start_id: from,
            forgotten_events_end_id: to,
            summary_offset: condensed
                .summary
                .is_some()
                .then(|| number(first.saturating_sub(gone))),
            summary: condensed.summary.clone(),
        };
        self.push(at, EventSource::Agent, Action::from(condensation));
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{Picture, PictureFormat, Source};

    use super::*;
    use crate::dialect::tests::{record_of, recorded};

    #[test]
    fn pictures_are_shown_as_long_as_there_is_room() {
        use Source::{Agent, Environment};
        let mut bodies = Vec::new();
        for (step, letter) in [b'a', b'b', b'c'].into_iter().enumerate() {
            let mut drawn = Seen::new(ObservationKind::Output, "drawn");
            drawn.pictures = vec![Picture::new(PictureFormat::Png, vec![letter; 40])];
            let code = "plot()".to_owned();
            bodies.push((Agent, None, Body::Action(agon_core::Action::Cell { code })));
            let cause = Some(2 * step as u64);
            bodies.push((Environment, cause, Body::Observation(drawn)));
        }
        let events = record_of(bodies);
        let shown = |most| -> Vec<(usize, String)> {
            let (history, _) = with_pictures_up_to(most, &recorded(&events), None);
            let seen = history
                .iter()
                .filter_map(|event| match event.observation() {
                    Some(Observation::RunIPython(cell)) => {
                        let pictures = cell.image_urls.as_ref().map_or(0, Vec::len);
                        Some((pictures, cell.content.clone()))
                    }
                    _ => None,
                });
            seen.collect()
        };
        assert!(
            shown(120)
                .iter()
                .all(|seen| *seen == (1, "drawn".to_owned()))
        );
        let some = shown(90);
        assert_eq!((some[0].0, some[1].0, some[2].0), (1, 1, 0));
        assert!(some[2].1.contains("1 pictures are left out"), "{some:?}");
    }

    /// A session that was gone on with: a step, another task, a step.
    #[test]
    fn a_later_task_is_a_message_that_is_never_forgotten() {
        use Source::{Agent, Environment, Harness, User};
        let task = |text: &str| (User, None, Body::Instruction(text.to_owned()));
        let run = |command: &str| {
            let action = agon_core::Action::run(command);
            (Agent, None, Body::Action(action))
        };
        let seen = |cause| {
            let seen = Seen::new(ObservationKind::Output, "x");
            (Environment, Some(cause), Body::Observation(seen))
        };
        let condensed = |from, to| {
            let gone = Condensation {
                from,
                to,
                summary: None,
            };
            (Agent, None, Body::Condensed(gone))
        };
        let end = Body::End(agon_core::verdict::TurnEnd::Finished);
        let events = record_of(vec![
            task("Say hello."),
            run("one"),
            seen(1),
            (Harness, None, end),
            task("And more."),
            run("two"),
            seen(5),
            condensed(1, 2),
            condensed(2, 2),
        ]);
        let history = history(&recorded(&events));
        let said: Vec<_> = history
            .iter()
            .filter_map(|event| Some((event.id?, event.words_of(EventSource::User)?)))
            .collect();
        assert_eq!(said, [(0, "Say hello."), (3, "And more.")]);
        let gone: Vec<&CondensationAction> = history
            .iter()
            .filter_map(|event| match event.action() {
                Some(Action::Condensation(gone)) => Some(gone),
                _ => None,
            })
            .collect();
        assert_eq!(gone[0].forgotten_event_ids, Some(vec![1, 2, 4, 5]));
        assert_eq!(gone[0].forgotten_events_start_id, None);
        assert_eq!(gone[1].forgotten_event_ids, None);
        assert_eq!(gone[1].forgotten_events_start_id, Some(4));
    }
}
