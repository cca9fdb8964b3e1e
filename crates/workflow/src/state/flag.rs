//! How far a limit is used up.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlFlag<T> {
    /// What an interactive user could add at a time.
    pub limit_increase_amount: T,
    pub current_value: T,
    pub max_value: T,
    pub headless_mode: bool,
    #[serde(rename = "_hit_limit", default)]
    pub hit_limit: bool,
}

/// Whether the agent goes on unhindered; programs of older versions look at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrafficControlState {
    #[default]
    Normal,
    /// A limit was reached.
    Throttling,
    Paused,
}

impl<T: PartialOrd + Copy> ControlFlag<T> {
    pub(super) fn at(current_value: T, max_value: T) -> Self {
        Self {
            limit_increase_amount: max_value,
            current_value,
            max_value,
            headless_mode: true,
            hit_limit: current_value >= max_value,
        }
    }
}
