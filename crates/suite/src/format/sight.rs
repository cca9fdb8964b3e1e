//! Values of keys that only tests of the screen have.

use std::borrow::Cow;
use std::fmt;

use agon_core::Region;
use agon_core::sight::{Colour, NumberForm};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// `[x, y, width, height]` in pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegionFile(pub(crate) Region);

impl<'de> Deserialize<'de> for RegionFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Vec::<u32>::deserialize(deserializer)?.as_slice() {
            &[x, y, width, height] if width > 0 && height > 0 => Ok(Self(Region {
                x,
                y,
                width,
                height,
            })),
            [_, _, _, _] => Err(D::Error::custom("this region is empty")),
            _ => Err(D::Error::custom("a region is [x, y, width, height]")),
        }
    }
}

impl JsonSchema for RegionFile {
    fn schema_name() -> Cow<'static, str> {
        "Region".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": { "type": "integer", "minimum": 0 },
            "minItems": 4,
            "maxItems": 4,
            "examples": [[0, 0, 640, 120]],
        })
    }
}

/// `"#rrggbb"`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColourFile(pub(crate) Colour);

impl ColourFile {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let all_hex = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| all_hex)?;
        let [_, red, green, blue] = number.to_be_bytes();
        Some(Self(Colour([red, green, blue])))
    }
}

impl<'de> Deserialize<'de> for ColourFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no colour: expected \"#rrggbb\" in hex digits, such as \"#ff8800\""
            ))
        })
    }
}

impl JsonSchema for ColourFile {
    fn schema_name() -> Cow<'static, str> {
        "Colour".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^#?[0-9A-Fa-f]{6}$",
            "examples": ["#ff8800"],
        })
    }
}

/// A plain number: the text is that number. Keys and values: one among all that can be read.
#[derive(Debug)]
pub(crate) enum NumberFile {
    Plain(f64),
    Shown(ShownNumberFile),
    /// Whether other values are numbers.
    Said(bool),
}

/// A number that is shown somewhere among other things.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShownNumberFile {
    /// The word before it. Without it: the first number there is.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) after: Option<String>,
    /// How it is written. Default: plain.
    #[serde(default)]
    pub(crate) form: FormFile,
    pub(crate) at_least: Option<f64>,
    pub(crate) at_most: Option<f64>,
    /// It counts seconds of play, so that more than were played can't be right. Default: false.
    #[serde(default)]
    pub(crate) within_play: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FormFile {
    /// `1250`, `-3.5`, `1,250`.
    #[default]
    Plain,
    /// `12:34`: 12 seconds and 34 hundredths.
    SecondsHundredths,
    /// `02:05`: 2 minutes and 5 seconds.
    MinutesSeconds,
}

impl From<FormFile> for NumberForm {
    fn from(form: FormFile) -> Self {
        match form {
            FormFile::Plain => Self::Plain,
            FormFile::SecondsHundredths => Self::SecondsHundredths,
            FormFile::MinutesSeconds => Self::MinutesSeconds,
        }
    }
}

impl<'de> Deserialize<'de> for NumberFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Number {
            fn plain<E: Error>(number: f64) -> Result<NumberFile, E> {
                if number.is_finite() {
                    return Ok(NumberFile::Plain(number));
                }
                Err(E::custom("expected a finite number"))
            }
        }
        impl<'de> Visitor<'de> for Number {
            type Value = NumberFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_bool<E: Error>(self, said: bool) -> Result<NumberFile, E> {
                Ok(NumberFile::Said(said))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<NumberFile, E> {
                Self::plain(number as f64)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<NumberFile, E> {
                Self::plain(number as f64)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<NumberFile, E> {
                Self::plain(number)
            }
            // Whatever does not print back as it was written comes as a text: `1e3`, `0.50`.
            fn visit_str<E: Error>(self, text: &str) -> Result<NumberFile, E> {
                match text.parse() {
                    Ok(number) => Self::plain(number),
                    Err(_) => Err(E::invalid_type(Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NumberFile, A::Error> {
                ShownNumberFile::deserialize(MapAccessDeserializer::new(map)).map(NumberFile::Shown)
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl JsonSchema for NumberFile {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let shown = generator.subschema_for::<ShownNumberFile>();
        json_schema!({ "anyOf": [{ "type": ["number", "boolean"] }, shown] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours() {
        let colour = |text| ColourFile::parse(text).map(|colour| colour.0.0);
        assert_eq!(colour("#ff8000"), Some([255, 128, 0]));
        assert_eq!(colour("00FF01"), Some([0, 255, 1]));
        for bad in ["", "#fff", "#ff80000", "red", "+12345", "#ßß00"] {
            assert_eq!(colour(bad), None, "{bad}");
        }
    }
}
