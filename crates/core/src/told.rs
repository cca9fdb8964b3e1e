//! What an agent of ours tells about how it came to an action, for the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool call of a model that an action was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Called {
    pub function: String,
    pub id: String,
    /// How many calls the model's answer held.
    pub of: u32,
}

/// A part of the history that the agent's model is not shown any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condensation {
    /// The first and the last step that were forgotten; the agent's first step is 1.
    pub from: u32,
    pub to: u32,
    /// What stands in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}
