//! Values as they are given, in a file or a variable, and how they are read into types. They are never
//! shown: any of them may be a key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::Money;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::secret::{Confidential, Secret};

#[derive(Clone)]
pub(super) enum Raw {
    Text(String),
    Whole(i64),
    Real(f64),
    Truth(bool),
    /// Dates, and numbers that are too large: nothing here is one.
    Strange,
    List(Vec<Self>),
    Table(BTreeMap<String, Self>),
    /// The value of a variable, which is read as whatever type is wanted.
    Words(String),
}

impl Raw {
    pub(super) fn from_toml(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Self::Strange, Self::Whole),
            DeValue::Float(number) => number.as_str().parse().map_or(Self::Strange, Self::Real),
            DeValue::Boolean(truth) => Self::Truth(*truth),
            DeValue::Datetime(_) => Self::Strange,
            DeValue::Array(items) => Self::List(
                items
                    .iter()
                    .map(|item| Self::from_toml(item.get_ref()))
                    .collect(),
            ),
            DeValue::Table(table) => Self::Table(
                table
                    .iter()
                    .map(|(key, value)| {
                        (key.get_ref().to_string(), Self::from_toml(value.get_ref()))
                    })
                    .collect(),
            ),
        }
    }

    fn from_json(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Bool(truth) => Self::Truth(truth),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Self::Whole(whole),
                (None, Some(real)) => Self::Real(real),
                (None, None) => Self::Strange,
            },
            Value::Null => Self::Strange,
            Value::Array(items) => Self::List(items.into_iter().map(Self::from_json).collect()),
            Value::Object(map) => {
                let pairs = map
                    .into_iter()
                    .map(|(key, value)| (key, Self::from_json(value)));
                Self::Table(pairs.collect())
            }
        }
    }

    fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Text(text) | Self::Words(text) => text.clone().into(),
            Self::Whole(number) => (*number).into(),
            Self::Real(number) => serde_json::Number::from_f64(*number)?.into(),
            Self::Truth(truth) => (*truth).into(),
            Self::Strange => return None,
            Self::List(items) => items
                .iter()
                .map(Self::to_json)
                .collect::<Option<Vec<_>>>()?
                .into(),
            Self::Table(table) => Value::Object(map(table)?),
        })
    }

    /// A variable that holds a list or a table: JSON, or as TOML writes it.
    fn unpacked(&self) -> Self {
        let Self::Words(words) = self else {
            return self.clone();
        };
        if let Ok(value) = serde_json::from_str(words) {
            return Self::from_json(value);
        }
        let line = format!("v = {words}");
        let parsed = DeTable::parse(&line).ok();
        let value = parsed.as_ref().and_then(|table| table.get_ref().get("v"));
        value.map_or(Self::Strange, |value| Self::from_toml(value.get_ref()))
    }
}

fn map(table: &BTreeMap<String, Raw>) -> Option<Map<String, Value>> {
    table
        .iter()
        .map(|(key, raw)| Some((key.clone(), raw.to_json()?)))
        .collect()
}

/// A type that a value can be read into.
pub(super) trait FromRaw: Sized {
    /// In words, after "must be".
    const WANTED: &'static str;
    fn from_raw(raw: &Raw) -> Option<Self>;
}

impl FromRaw for String {
    const WANTED: &'static str = "a text in quotes";
    fn from_raw(raw: &Raw) -> Option<Self> {
        match raw {
            Raw::Text(text) | Raw::Words(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromRaw for PathBuf {
    const WANTED: &'static str = "a path in quotes";
    fn from_raw(raw: &Raw) -> Option<Self> {
        String::from_raw(raw).map(Self::from)
    }
}

impl FromRaw for bool {
    const WANTED: &'static str = "true or false";
    fn from_raw(raw: &Raw) -> Option<Self> {
        match raw {
            Raw::Truth(truth) => Some(*truth),
            Raw::Words(words) => match words.trim().to_ascii_lowercase().as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

impl FromRaw for f64 {
    const WANTED: &'static str = "a number";
    fn from_raw(raw: &Raw) -> Option<Self> {
        let number = match raw {
            Raw::Real(number) => *number,
            Raw::Whole(number) => *number as Self,
            Raw::Words(words) => words.trim().parse().ok()?,
            _ => return None,
        };
        number.is_finite().then_some(number)
    }
}

impl FromRaw for i64 {
    const WANTED: &'static str = "a whole number";
    fn from_raw(raw: &Raw) -> Option<Self> {
        match raw {
            Raw::Whole(number) => Some(*number),
            // 40.0 is 40 as well; larger ones are not exact.
            Raw::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Some(*number as Self)
            }
            Raw::Words(words) => words.trim().parse().ok(),
            _ => None,
        }
    }
}

macro_rules! counts {
    ($($type:ty),*) => {
        $(impl FromRaw for $type {
            const WANTED: &'static str = "a whole number, 0 or larger";
            fn from_raw(raw: &Raw) -> Option<Self> {
                i64::from_raw(raw)?.try_into().ok()
            }
        })*
    };
}
counts!(u16, u32, u64, usize);

/// Seconds, or a factor: never less than nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Amount(pub(super) f64);

impl FromRaw for Amount {
    const WANTED: &'static str = "a number, 0 or larger";
    fn from_raw(raw: &Raw) -> Option<Self> {
        f64::from_raw(raw).filter(|number| *number >= 0.0).map(Self)
    }
}

impl FromRaw for Money {
    const WANTED: &'static str = "an amount in dollars with at most 12 decimals";
    /// A float stands for the shortest decimal that reads as it: 0.00000015 is 0.15 millionths exactly.
    fn from_raw(raw: &Raw) -> Option<Self> {
        Self::parse(&f64::from_raw(raw)?.to_string())
    }
}

impl FromRaw for Secret {
    const WANTED: &'static str = "a text in quotes";
    fn from_raw(raw: &Raw) -> Option<Self> {
        Self::read(&String::from_raw(raw)?)
    }
}

impl FromRaw for Confidential {
    const WANTED: &'static str = "a table of texts";
    fn from_raw(raw: &Raw) -> Option<Self> {
        let Raw::Table(table) = raw.unpacked() else {
            return None;
        };
        table
            .into_iter()
            .map(|(name, value)| {
                let value = match value {
                    Raw::Text(text) => text,
                    Raw::Whole(number) => number.to_string(),
                    Raw::Truth(truth) => truth.to_string(),
                    _ => return None,
                };
                Some((name, value))
            })
            .collect()
    }
}

impl FromRaw for Map<String, Value> {
    const WANTED: &'static str = "a table";
    fn from_raw(raw: &Raw) -> Option<Self> {
        match raw.unpacked() {
            Raw::Table(table) => map(&table),
            _ => None,
        }
    }
}

impl<T: FromRaw> FromRaw for Vec<T> {
    const WANTED: &'static str = "a list";
    fn from_raw(raw: &Raw) -> Option<Self> {
        match raw.unpacked() {
            Raw::List(items) => items.iter().map(T::from_raw).collect(),
            _ => None,
        }
    }
}

impl<T: FromRaw> FromRaw for Option<T> {
    const WANTED: &'static str = T::WANTED;
    fn from_raw(raw: &Raw) -> Option<Self> {
        T::from_raw(raw).map(Some)
    }
}

/// An empty text, where a key belongs, is none.
pub(super) fn is_empty_text(raw: &Raw) -> bool {
    matches!(raw, Raw::Text(text) | Raw::Words(text) if text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<T: FromRaw>(text: &str) -> Option<T> {
        T::from_raw(&Raw::Words(text.to_owned()))
    }

    #[test]
    fn money_is_exact() {
        let read = |number: f64| Money::from_raw(&Raw::Real(number)).map(Money::picos);
        assert_eq!(read(0.000_000_15), Some(150_000));
        assert_eq!(read(7.5e-8), Some(75_000));
        assert_eq!(read(3e-6), Some(3_000_000));
        assert_eq!(read(0.1 + 0.2), None, "17 decimals are no price");
        assert_eq!(read(-1.0), None);
        assert_eq!(read(f64::NAN), None);
        assert_eq!(words::<Money>("1.5e-7").map(Money::picos), Some(150_000));
    }

    #[test]
    fn variables_are_read_as_the_type_that_is_wanted() {
        assert_eq!(words::<bool>("1"), Some(true));
        assert_eq!(words::<bool>("False"), Some(false));
        assert_eq!(words::<bool>("yes"), None);
        assert_eq!(words::<u64>("40"), Some(40));
        assert_eq!(words::<u64>("-40"), None);
        assert_eq!(
            words::<Vec<String>>("['a', 'b']").map(|list| list.len()),
            Some(2)
        );
        assert_eq!(
            words::<Vec<String>>(r#"["a"]"#).map(|list| list.len()),
            Some(1)
        );
        let table: Map<String, Value> = words(r#"{"a": {"b": [1, 2.5]}}"#).unwrap();
        assert_eq!(
            Value::Object(table),
            serde_json::json!({"a": {"b": [1, 2.5]}})
        );
    }

    #[test]
    fn a_whole_float_is_a_whole_number() {
        assert_eq!(u64::from_raw(&Raw::Real(40.0)), Some(40));
        assert_eq!(u64::from_raw(&Raw::Real(40.5)), None);
        assert_eq!(f64::from_raw(&Raw::Whole(1)), Some(1.0));
        assert_eq!(f64::from_raw(&Raw::Text("0.0".to_owned())), None);
    }
}
