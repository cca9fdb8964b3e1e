//! Sizes and durations as people write them in task files: `512MB`, `1.5GB`, `90`, `0.5`, `200ms`.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration in seconds; finite, not negative, at most a year.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, JsonSchema)]
pub struct Seconds(f64);

impl Seconds {
    const MOST: f64 = 366.0 * 86_400.0;

    pub fn new(seconds: f64) -> Option<Self> {
        (seconds.is_finite() && (0.0..=Self::MOST).contains(&seconds)).then_some(Self(seconds))
    }

    pub const fn whole(seconds: u32) -> Self {
        Self(seconds as f64)
    }

    pub const fn millis(millis: u32) -> Self {
        Self(millis as f64 / 1e3)
    }

    /// `2`, `1.5s`, `200ms`, `3min`, `1h`.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = number_and_unit(text)?;
        // Divided rather than multiplied by 0.001, so that 200ms is the same as 0.2.
        let seconds = match unit.to_ascii_lowercase().as_str() {
            "" | "s" => number,
            "ms" => number / 1e3,
            "us" => number / 1e6,
            "min" => number * 60.0,
            "h" => number * 3_600.0,
            _ => return None,
        };
        Self::new(seconds)
    }

    pub fn get(self) -> f64 {
        self.0
    }

    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Self::new(seconds)
            .ok_or_else(|| D::Error::custom("expected seconds: a number from 0 to a year"))
    }
}

/// A plain decimal number, and the letters behind it.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    Some((number.trim().parse().ok()?, unit))
}

/// A number of bytes, read from `65536`, `64KiB`, `64KB`, `1.5GB`; written as a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

impl ByteSize {
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = number_and_unit(text)?;
        let factor: f64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "kib" => 1024.0,
            "m" | "mb" => 1e6,
            "mib" => 1_048_576.0,
            "g" | "gb" => 1e9,
            "gib" => 1_073_741_824.0,
            _ => return None,
        };
        let bytes = number * factor;
        (bytes.is_finite() && (0.0..=1e15).contains(&bytes)).then_some(Self(bytes as u64))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1_024 => write!(f, "{} B", self.0),
            1_024..1_048_576 => write!(f, "{:.1} KiB", bytes / 1_024.0),
            1_048_576..1_073_741_824 => write!(f, "{:.1} MiB", bytes / 1_048_576.0),
            _ => write!(f, "{:.1} GiB", bytes / 1_073_741_824.0),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Size;
        impl Visitor<'_> for Size {
            type Value = ByteSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as 65536, 64KiB or 1.5GB")
            }
            fn visit_u64<E: Error>(self, bytes: u64) -> Result<ByteSize, E> {
                Ok(ByteSize(bytes))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<ByteSize, E> {
                ByteSize::parse(text)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Size)
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByteSize".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string"], "examples": [65536, "64KiB", "1.5GB"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        assert_eq!(ByteSize::parse("512MB"), Some(ByteSize(512_000_000)));
        assert_eq!(ByteSize::parse("64KiB"), Some(ByteSize(65_536)));
        assert_eq!(ByteSize::parse("1.5 GiB"), Some(ByteSize(1_610_612_736)));
        assert_eq!(ByteSize::parse("many"), None);
        assert_eq!(ByteSize::parse("-1"), None);
        assert_eq!(ByteSize(65_536).to_string(), "64.0 KiB");
    }

    #[test]
    fn durations_as_people_write_them() {
        for (text, seconds) in [
            ("2", 2.0),
            ("200ms", 0.2),
            ("1.5s", 1.5),
            (" 1.5 S ", 1.5),
            ("3min", 180.0),
            ("1h", 3_600.0),
            ("50us", 0.000_05),
            ("0", 0.0),
        ] {
            assert_eq!(Seconds::parse(text), Seconds::new(seconds), "{text}");
        }
        for bad in [
            "", "ms", "-1s", "1d", "1e3", "inf", "nan", "1 2s", "400000h",
        ] {
            assert_eq!(Seconds::parse(bad), None, "{bad}");
        }
        assert_eq!(Some(Seconds::millis(200)), Seconds::parse("0.2"));
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert!(Seconds::new(f64::NAN).is_none());
        assert!(Seconds::new(-1.0).is_none());
        assert_eq!(
            Seconds::new(0.5).unwrap().duration(),
            Duration::from_millis(500)
        );
    }
}
