//! The keys of `suite.toml`.

use std::collections::BTreeMap;

use agon_core::Level;
use schemars::JsonSchema;
use serde::Deserialize;

use super::environment::EnvironmentFile;
use super::limits::LimitsFile;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[schemars(title = "Agon suite")]
pub(crate) struct SuiteFile {
    /// Without it: the name of the folder.
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) description: String,
    /// What holds for every task that says nothing else.
    #[serde(default)]
    pub(crate) defaults: Defaults,
    /// Weights of levels, instead of 0.5, 1, 2, 4 and 8.
    #[serde(default)]
    pub(crate) weights: BTreeMap<Level, f64>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct Defaults {
    #[serde(default)]
    pub(crate) environment: EnvironmentFile,
    #[serde(default)]
    pub(crate) limits: LimitsFile,
}
