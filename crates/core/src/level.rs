//! Difficulty levels with their weights and default step budgets.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Paper,
    Wood,
    Bronze,
    Silver,
    Gold,
}

impl Level {
    pub const ALL: [Self; 5] = [
        Self::Paper,
        Self::Wood,
        Self::Bronze,
        Self::Silver,
        Self::Gold,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Wood => "wood",
            Self::Bronze => "bronze",
            Self::Silver => "silver",
            Self::Gold => "gold",
        }
    }

    pub const fn default_weight(self) -> f64 {
        match self {
            Self::Paper => 0.5,
            Self::Wood => 1.0,
            Self::Bronze => 2.0,
            Self::Silver => 4.0,
            Self::Gold => 8.0,
        }
    }

    pub const fn default_steps(self) -> u32 {
        match self {
            Self::Paper => 5,
            Self::Wood => 25,
            Self::Bronze => 50,
            Self::Silver => 75,
            Self::Gold => 100,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == text)
            .ok_or_else(|| format!("`{text}` is no level: use paper, wood, bronze, silver or gold"))
    }
}
