//! The keys of `realtime`.

use std::borrow::Cow;
use std::fmt;

use agon_core::{Seconds, WorldClock};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::check::CheckFile;

/// How a task is played whose world moves on by itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct RealtimeFile {
    /// Part of the title of the window that is played.
    pub(crate) window: Option<String>,
    /// Default: realtime.
    pub(crate) clock: Option<ClockFile>,
    /// Keys that begin the game, pressed for the agent.
    pub(crate) begin: Option<String>,
    /// Tests of the screen, as in `checks`: each shows that the world has ended.
    #[schemars(with = "Option<Vec<CheckFile>>")]
    #[expect(
        dead_code,
        reason = "ends are read one by one, each from its own place"
    )]
    pub(crate) ends: Option<Vec<IgnoredAny>>,
    /// How often `ends` are looked for. Default: 0.5 s.
    pub(crate) interval: Option<DurationFile>,
    /// Frames of history that the agent wants. Default: 3.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) frames: Option<u32>,
}

/// Seconds as a number, or with a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DurationFile(pub(crate) Seconds);

impl<'de> Deserialize<'de> for DurationFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Seconds::parse(&text).map(Self).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no time: expected seconds such as 0.25, 1.5s or 200ms"
            ))
        })
    }
}

impl JsonSchema for DurationFile {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "examples": [0.25, "1.5s", "200ms"] })
    }
}

/// `realtime`, `paused`, `{paused: 0.25}`, `{latency: 200ms}`, or the same as a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockFile(pub(crate) WorldClock);

/// A clock that has a time beside it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimedFile {
    paused: Option<DurationFile>,
    latency: Option<DurationFile>,
}

impl TimedFile {
    fn clock<E: Error>(self) -> Result<WorldClock, E> {
        let (name, time) = match (self.paused, self.latency) {
            (Some(slice), None) => ("paused", slice),
            (None, Some(delay)) => ("latency", delay),
            _ => {
                return Err(E::custom(
                    "expected one of `paused: 0.25` and `latency: 200ms`",
                ));
            }
        };
        WorldClock::named(name, Some(time.0)).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for ClockFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Clock;
        impl<'de> Visitor<'de> for Clock {
            type Value = ClockFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("realtime, paused, `paused: 0.25` or `latency: 200ms`")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<ClockFile, E> {
                text.parse().map(ClockFile).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ClockFile, A::Error> {
                TimedFile::deserialize(MapAccessDeserializer::new(map))?
                    .clock()
                    .map(ClockFile)
            }
        }
        deserializer.deserialize_any(Clock)
    }
}

impl JsonSchema for ClockFile {
    fn schema_name() -> Cow<'static, str> {
        "Clock".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<DurationFile>();
        let timed = |name: &str| {
            json_schema!({
                "type": "object",
                "properties": { name: time },
                "required": [name],
                "additionalProperties": false,
            })
        };
        json_schema!({
            "anyOf": [{ "type": "string" }, timed("paused"), timed("latency")],
            "examples": ["realtime", "paused", { "paused": 0.25 }, { "latency": "200ms" }],
        })
    }
}
