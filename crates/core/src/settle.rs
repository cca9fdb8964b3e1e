//! How long to wait for a screen after an action: between two bounds. Knows nothing of what is waited for.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::Seconds;

/// A plain number is the upper bound alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SettleTime {
    pub least: Option<Seconds>,
    pub most: Option<Seconds>,
}

impl SettleTime {
    pub const fn at_most(most: Seconds) -> Self {
        Self {
            least: None,
            most: Some(most),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bounds {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    least: Option<Seconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most: Option<Seconds>,
}

impl Serialize for SettleTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { least, most } = *self;
        match (least, most) {
            (None, Some(most)) => most.serialize(serializer),
            (least, most) => Bounds { least, most }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SettleTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl Read {
    fn most<E: Error>(seconds: f64) -> Result<SettleTime, E> {
        Seconds::new(seconds)
            .map(SettleTime::at_most)
            .ok_or_else(|| E::custom("expected seconds: a number from 0 to a year"))
    }
}

impl<'de> Visitor<'de> for Read {
    type Value = SettleTime;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds at most, or `{ least: SECONDS, most: SECONDS }`")
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<SettleTime, E> {
        Self::most(seconds)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<SettleTime, E> {
        #[expect(clippy::cast_precision_loss, reason = "a year has 8 digits")]
        Self::most(seconds as f64)
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<SettleTime, E> {
        #[expect(clippy::cast_precision_loss, reason = "a year has 8 digits")]
        Self::most(seconds as f64)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SettleTime, A::Error> {
        let Bounds { least, most } = Bounds::deserialize(MapAccessDeserializer::new(map))?;
        match (least, most) {
            (Some(least), Some(most)) if least > most => Err(A::Error::custom(format!(
                "`least` is {least}, which is more than `most`, {most}"
            ))),
            (least, most) => Ok(SettleTime { least, most }),
        }
    }
}

impl JsonSchema for SettleTime {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SettleTime".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = generator.subschema_for::<Seconds>();
        let bounds = generator.subschema_for::<Bounds>();
        json_schema!({ "anyOf": [number, bounds] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SettleTime, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_is_the_upper_bound_and_is_written_as_one() {
        for text in [
            "0.5",
            "3.0",
            r#"{"least":0.2}"#,
            r#"{"least":0.2,"most":2.0}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
        assert_eq!(read("3").unwrap(), SettleTime::at_most(Seconds::whole(3)));
    }

    #[test]
    fn bounds_that_make_no_sense_are_refused() {
        for (text, why) in [
            (r#"{"least":2,"most":1}"#, "more than `most`"),
            (r#"{"last":2}"#, "unknown field `last`"),
            ("-1", "from 0 to a year"),
            (r#""long""#, "seconds at most, or `{ least"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
