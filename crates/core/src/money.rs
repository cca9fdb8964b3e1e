//! Money in whole micro-dollars: sums are exact, and an unknown price is `None`, never zero.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// US dollars in millionths.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct Money(u64);

impl Money {
    pub const ZERO: Self = Self(0);

    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Reads `12`, `0.5`, `$1.25`; more than six decimals would be lost and is refused.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('$').unwrap_or(text);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || fraction.len() > 6 || !digits(whole) || !digits(fraction) {
            return None;
        }
        let micros: u64 = format!("{fraction:0<6}").parse().ok()?;
        whole
            .parse::<u64>()
            .ok()?
            .checked_mul(1_000_000)?
            .checked_add(micros)
            .map(Self)
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let fraction = format!("{micros:06}");
        let fraction = fraction.trim_end_matches('0');
        write!(f, "${whole}.{fraction:0<2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_and_print() {
        assert_eq!(Money::parse("1.25"), Some(Money::from_micros(1_250_000)));
        assert_eq!(Money::parse("$0.000001"), Some(Money::from_micros(1)));
        assert_eq!(Money::parse("0.0000001"), None);
        assert_eq!(Money::parse("-1"), None);
        assert_eq!(Money::from_micros(1_250_000).to_string(), "$1.25");
        assert_eq!(Money::from_micros(1).to_string(), "$0.000001");
        assert_eq!(Money::ZERO.to_string(), "$0.00");
    }

    proptest::proptest! {
        #[test]
        fn every_amount_survives_printing(micros in 0u64..u64::MAX / 2) {
            let money = Money::from_micros(micros);
            proptest::prop_assert_eq!(Money::parse(&money.to_string()), Some(money));
        }
    }
}
