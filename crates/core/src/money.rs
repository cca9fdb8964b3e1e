//! Money, exact: sums lose nothing, and an unknown price is `None`, never zero. Counted in billionths
//! of a thousandth of a dollar, so that one token of the cheapest model has a whole price.

use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const PICOS_PER_MICRO: u64 = 1_000_000;
const PICOS_PER_DOLLAR: u64 = 1_000_000_000_000;
/// Decimals of a dollar.
const DECIMALS: usize = 12;

/// US dollars. Stored as micro-dollars: a whole number, or one with up to six decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money {
    picos: u64,
}

impl Money {
    pub const ZERO: Self = Self { picos: 0 };

    /// The rest; nothing where more is taken than there is.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self {
            picos: self.picos.saturating_sub(other.picos),
        }
    }

    pub const fn from_micros(micros: u64) -> Self {
        Self {
            picos: micros.saturating_mul(PICOS_PER_MICRO),
        }
    }

    /// Millionths of a millionth of a dollar.
    pub const fn from_picos(picos: u64) -> Self {
        Self { picos }
    }

    pub const fn picos(self) -> u64 {
        self.picos
    }

    /// Micro-dollars; a part of one is cut off.
    pub const fn micros(self) -> u64 {
        self.picos / PICOS_PER_MICRO
    }

    /// Micro-dollars with their decimals, for people and files.
    pub fn micros_text(self) -> String {
        let fraction = format!("{:06}", self.picos % PICOS_PER_MICRO);
        let text = format!("{}.{fraction}", self.micros());
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// Reads `12`, `0.5`, `$1.25`; more than twelve decimals would be lost and are refused.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('$').unwrap_or(text);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || fraction.len() > DECIMALS || !digits(whole) || !digits(fraction) {
            return None;
        }
        let part: u64 = format!("{fraction:0<DECIMALS$}").parse().ok()?;
        whole
            .parse::<u64>()
            .ok()?
            .checked_mul(PICOS_PER_DOLLAR)?
            .checked_add(part)
            .map(Self::from_picos)
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::from_picos(self.picos.saturating_add(other.picos))
    }
}

impl Mul<u64> for Money {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self::from_picos(self.picos.saturating_mul(count))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, picos) = (self.picos / PICOS_PER_DOLLAR, self.picos % PICOS_PER_DOLLAR);
        let fraction = format!("{picos:0DECIMALS$}");
        let fraction = fraction.trim_end_matches('0');
        write!(f, "${whole}.{fraction:0<2}")
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.picos.is_multiple_of(PICOS_PER_MICRO) {
            serializer.serialize_u64(self.micros())
        } else {
            serializer.serialize_f64(self.picos as f64 / PICOS_PER_MICRO as f64)
        }
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Micros {
            Whole(u64),
            Parts(f64),
        }
        match Micros::deserialize(deserializer)? {
            Micros::Whole(micros) => Ok(Self::from_micros(micros)),
            Micros::Parts(micros) if micros >= 0.0 && micros.is_finite() => Ok(Self::from_picos(
                (micros * PICOS_PER_MICRO as f64).round() as u64,
            )),
            Micros::Parts(_) => Err(serde::de::Error::custom("no amount of money")),
        }
    }
}

impl JsonSchema for Money {
    fn schema_name() -> Cow<'static, str> {
        "Money".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "description": "US dollars in millionths" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_and_print() {
        assert_eq!(Money::parse("1.25"), Some(Money::from_micros(1_250_000)));
        assert_eq!(Money::parse("$0.000001"), Some(Money::from_micros(1)));
        assert_eq!(Money::parse("0.000000000001"), Some(Money::from_picos(1)));
        assert_eq!(Money::parse("0.0000000000001"), None);
        assert_eq!(Money::parse("-1"), None);
        assert_eq!(Money::from_micros(1_250_000).to_string(), "$1.25");
        assert_eq!(Money::from_micros(1).to_string(), "$0.000001");
        assert_eq!(Money::ZERO.to_string(), "$0.00");
        assert_eq!(Money::from_picos(75_000).micros_text(), "0.075");
        assert_eq!(Money::from_micros(12).micros_text(), "12");
        assert_eq!(Money::ZERO.micros_text(), "0");
    }

    #[test]
    fn whole_micros_are_stored_as_they_always_were() {
        let stored = |money: Money| serde_json::to_string(&money).unwrap();
        assert_eq!(stored(Money::from_micros(4100)), "4100");
        assert_eq!(stored(Money::from_picos(75_000)), "0.075");
    }

    proptest::proptest! {
        #[test]
        fn every_amount_survives_printing(picos in 0u64..u64::MAX / 2) {
            let money = Money::from_picos(picos);
            proptest::prop_assert_eq!(Money::parse(&money.to_string()), Some(money));
        }

        // Up to four thousand dollars: above, a float can lose the last of twelve decimals.
        #[test]
        fn every_amount_survives_storing(picos in 0u64..4_000_000_000_000_000) {
            let money = Money::from_picos(picos);
            let text = serde_json::to_string(&money).unwrap();
            proptest::prop_assert_eq!(serde_json::from_str::<Money>(&text).unwrap(), money);
        }
    }
}
