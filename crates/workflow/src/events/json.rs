//! The JSON of an event: keys in the original's order, nothing written that is not there. Reads what older
//! versions wrote, too.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::action::{Action, CondensationAction};
use super::error::EventError;
use super::event::{Event, EventBody};
use super::legacy;
use super::observation::Observation;

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self, serializer, |seen, map| seen.fields("extras", map))
    }
}

/// `extras` writes what belongs to an observation of its type.
pub(super) fn write<S: Serializer>(
    event: &Event,
    serializer: S,
    extras: impl FnOnce(&Observation, &mut S::SerializeMap) -> Result<(), S::Error>,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(id) = event.id {
        map.serialize_entry("id", &id)?;
    }
    if let Some(timestamp) = &event.timestamp {
        map.serialize_entry("timestamp", timestamp)?;
    }
    if let Some(source) = &event.source {
        map.serialize_entry("source", source)?;
    }
    map.serialize_entry("message", &*event.message())?;
    if let Some(cause) = event.cause {
        map.serialize_entry("cause", &cause)?;
    }
    match &event.body {
        EventBody::Action(action) => map.serialize_entry("action", action.kind())?,
        EventBody::Observation(seen) => map.serialize_entry("observation", seen.kind())?,
    }
    if let Some(metadata) = &event.tool_call_metadata {
        map.serialize_entry("tool_call_metadata", metadata)?;
    }
    if let Some(metrics) = &event.llm_metrics {
        map.serialize_entry("llm_metrics", metrics)?;
    }
    match &event.body {
        EventBody::Action(action) => {
            action.fields("args", &mut map)?;
            if let Some(seconds) = action.timeout() {
                map.serialize_entry("timeout", &seconds)?;
            }
        }
        EventBody::Observation(seen) => {
            map.serialize_entry("content", seen.content())?;
            extras(seen, &mut map)?;
            if let Some(success) = seen.success() {
                map.serialize_entry("success", &success)?;
            }
        }
    }
    map.end()
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::<String, Value>::deserialize(deserializer)?;
        Self::from_json(object).map_err(D::Error::custom)
    }
}

impl Event {
    /// Reads one event of a history, a trajectory or an event file.
    pub fn from_json(mut object: Map<String, Value>) -> Result<Self, EventError> {
        let body = body(&mut object)?;
        Ok(Self {
            id: number(&object, "id")?,
            timestamp: part(&mut object, "timestamp")?,
            source: part(&mut object, "source")?,
            cause: number(&object, "cause")?,
            tool_call_metadata: part(&mut object, "tool_call_metadata")?,
            llm_metrics: part(&mut object, "llm_metrics")?,
            body,
        })
    }
}

fn body(object: &mut Map<String, Value>) -> Result<EventBody, EventError> {
    if let Some(kind) = text(object, "action") {
        let mut args = fields(object, "args")?;
        legacy::args(&mut args);
        let mut action =
            Action::read(&kind, args).unwrap_or(Err(EventError::UnknownAction(kind)))?;
        if let Action::Condensation(condensation) = &action {
            consistent(condensation)?;
        }
        action.set_timeout(part(object, "timeout")?);
        return Ok(action.into());
    }
    let Some(kind) = text(object, "observation") else {
        return Err(EventError::Neither);
    };
    let mut extras = fields(object, "extras")?;
    legacy::extras(&kind, &mut extras);
    let mut seen =
        Observation::read(&kind, extras).unwrap_or(Err(EventError::UnknownObservation(kind)))?;
    seen.set_content(part(object, "content")?.unwrap_or_default());
    Ok(seen.into())
}

/// A struct from its keys. A null stands for a key that was not given.
pub(super) fn typed<T: DeserializeOwned>(
    kind: &'static str,
    required: &'static [&'static str],
    mut fields: Map<String, Value>,
) -> Result<T, EventError> {
    fields.retain(|_, value| !value.is_null());
    if let Some(key) = required.iter().find(|key| !fields.contains_key(**key)) {
        return Err(EventError::Missing { kind, key });
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| EventError::Malformed {
        kind,
        why: error.to_string(),
    })
}

/// Ids in one form only, and a summary only with its place.
fn consistent(condensation: &CondensationAction) -> Result<(), EventError> {
    let CondensationAction {
        forgotten_event_ids: ids,
        forgotten_events_start_id: start,
        forgotten_events_end_id: end,
        summary,
        summary_offset,
    } = condensation;
    let one_form = matches!(
        (ids, start, end),
        (Some(_), None, None) | (None, Some(_), Some(_))
    );
    if one_form && summary.is_some() == summary_offset.is_some() {
        return Ok(());
    }
    Err(EventError::Malformed {
        kind: CondensationAction::TYPE,
        why: "it needs ids or a first and a last one, and a summary together with its offset"
            .to_owned(),
    })
}

fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key)?.as_str().map(str::to_owned)
}

fn fields(object: &mut Map<String, Value>, key: &str) -> Result<Map<String, Value>, EventError> {
    part(object, key).map(Option::unwrap_or_default)
}

fn part<T: DeserializeOwned>(
    object: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<T>, EventError> {
    let Some(value) = object.remove(key) else {
        return Ok(None);
    };
    serde_json::from_value(value).map_err(|error| EventError::Shape(format!("`{key}`: {error}")))
}

/// -1 stands for none.
fn number(object: &Map<String, Value>, key: &str) -> Result<Option<u64>, EventError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if value.as_i64() == Some(-1) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(EventError::Shape(format!("`{key}` is no event's number"))),
        },
    }
}
