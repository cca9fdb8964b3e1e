//! A history as result files hold it: a list of events, or pairs of an action and what came back.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::action::NullAction;
use super::error::EventError;
use super::event::{Event, EventBody};
use super::observation::{NullObservation, Observation};
use super::{Action, EventSource};

#[derive(Debug, Clone, PartialEq)]
pub enum History {
    Flat(Vec<Event>),
    Pairs(Vec<(Event, Event)>),
}

impl History {
    /// The events one by one; what only fills up a pair is left out.
    pub fn into_flat(self) -> Vec<Event> {
        match self {
            Self::Flat(events) => events,
            Self::Pairs(pairs) => {
                let mut events: Vec<Event> = pairs
                    .into_iter()
                    .flat_map(|(action, seen)| [action, seen])
                    .filter(|event| !is_filler(event))
                    .collect();
                // Pairs lose the order of observations that came late; the numbers still know it.
                events.sort_by_key(|event| event.id.unwrap_or(u64::MAX));
                events
            }
        }
    }
}

fn is_filler(event: &Event) -> bool {
    event.id.is_none()
        && matches!(
            event.body,
            EventBody::Action(Action::Null(_)) | EventBody::Observation(Observation::Null(_))
        )
}

/// Each action with what it caused, as the result files of most benchmarks have it.
pub(crate) fn pairs(history: &[Event]) -> Vec<(Event, Event)> {
    let mut answers: BTreeMap<Option<u64>, &Event> = BTreeMap::new();
    for event in history {
        if event.observation().is_some() {
            answers.insert(event.cause, event);
        }
    }
    let mut known = Vec::new();
    let mut pairs = Vec::new();
    for event in history {
        if event.action().is_some() {
            known.push(event.id);
            let answer = event.id.and_then(|id| answers.get(&Some(id)));
            let answer = answer.map_or_else(no_observation, |answer| (*answer).clone());
            pairs.push((event.clone(), answer));
        }
    }
    for (cause, orphan) in answers {
        let null = matches!(orphan.body, EventBody::Observation(Observation::Null(_)));
        let answers_one = cause.is_some() && known.contains(&cause);
        if !answers_one && !null {
            pairs.push((no_action(), orphan.clone()));
        }
    }
    pairs
}

fn no_observation() -> Event {
    let body = Observation::from(NullObservation::default());
    Event {
        source: None,
        ..Event::new(EventSource::Environment, body)
    }
}

fn no_action() -> Event {
    Event {
        source: None,
        ..Event::new(EventSource::Agent, Action::from(NullAction::default()))
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flat(events) => events.serialize(serializer),
            Self::Pairs(pairs) => pairs.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<Value>::deserialize(deserializer)?;
        Self::from_json(items).map_err(D::Error::custom)
    }
}

impl History {
    pub fn from_json(items: Vec<Value>) -> Result<Self, EventError> {
        let paired = matches!(items.first(), Some(Value::Array(_)));
        let items = items.into_iter().enumerate();
        if paired {
            let pairs = items.map(|(at, item)| pair(item).map_err(numbered(at)));
            return pairs.collect::<Result<_, _>>().map(Self::Pairs);
        }
        let events = items.map(|(at, item)| event(item).map_err(numbered(at)));
        events.collect::<Result<_, _>>().map(Self::Flat)
    }
}

fn numbered(at: usize) -> impl FnOnce(EventError) -> EventError {
    move |error| EventError::At {
        at,
        error: Box::new(error),
    }
}

fn pair(item: Value) -> Result<(Event, Event), EventError> {
    let Value::Array(two) = item else {
        return Err(EventError::Shape("a pair was expected".to_owned()));
    };
    let two: [Value; 2] = two
        .try_into()
        .map_err(|_| EventError::Shape("a pair has two events".to_owned()))?;
    let [action, seen] = two;
    Ok((event(action)?, event(seen)?))
}

fn event(item: Value) -> Result<Event, EventError> {
    match item {
        Value::Object(object) => Event::from_json(object),
        _ => Err(EventError::Shape("an object was expected".to_owned())),
    }
}
