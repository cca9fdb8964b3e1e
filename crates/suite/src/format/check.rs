//! The keys of a check. They stand in one flat type, so that a key on the wrong type of check can
//! be named as such.

use agon_core::{ActionKind, Digest};
use schemars::JsonSchema;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a check: keys and values")]
pub(crate) struct CheckFile {
    /// What is looked at.
    #[serde(rename = "type")]
    pub(crate) kind: CheckType,
    /// Shown in reports.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) name: Option<String>,
    /// Share in partial credit. Default: 1.
    pub(crate) weight: Option<f64>,
    /// file: below the working folder. script: below `verify/`.
    pub(crate) path: Option<String>,
    /// command_output: run after the agent was cut off.
    pub(crate) command: Option<String>,
    /// Prose for a judge.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) value: Option<String>,
    /// The text, byte for byte.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) equals: Option<String>,
    /// One of these texts.
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) one_of: Option<Vec<String>>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) not_contains: Option<String>,
    /// A regular expression, found anywhere unless anchored.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) matches: Option<String>,
    /// The text is JSON equal to this; `{pointer, equals}` looks at a part of it.
    #[serde(default, deserialize_with = "present")]
    pub(crate) json: Option<Value>,
    /// file: digest of the content, 64 hex digits.
    pub(crate) sha256: Option<Digest>,
    /// file: whether it is there.
    pub(crate) exists: Option<bool>,
    /// command_output: the expected exit status. Without it: any.
    pub(crate) exit_status: Option<i32>,
    /// command_output: which output is looked at. Default: stdout.
    pub(crate) stream: Option<StreamFile>,
    /// The text is one number, at most `tolerance` away from this.
    pub(crate) number: Option<f64>,
    /// Default: 0.
    pub(crate) tolerance: Option<f64>,
    /// events: each of these was done.
    pub(crate) must: Option<Vec<PatternFile>>,
    /// events: none of these was done.
    pub(crate) must_not: Option<Vec<PatternFile>>,
    /// script: the same as `path`.
    pub(crate) script: Option<String>,
    /// script: arguments.
    pub(crate) args: Option<Vec<String>>,
    /// all, any: the parts.
    #[schemars(with = "Option<Vec<CheckFile>>")]
    #[expect(
        dead_code,
        reason = "the parts are read one by one, each from its own place"
    )]
    pub(crate) checks: Option<Vec<IgnoredAny>>,
    /// all: partial credit.
    pub(crate) partial: Option<bool>,
}

/// `json: null` is a value, not an absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Matches an action of the agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct PatternFile {
    pub(crate) action: Option<ActionKind>,
    /// A regular expression over the action's JSON.
    pub(crate) matches: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StreamFile {
    Stdout,
    Stderr,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(crate) enum CheckType {
    File,
    CommandOutput,
    Script,
    ReturnedResult,
    FinalScreenshot,
    ExpectedFlow,
    Events,
    All,
    Any,
}

const NAMES: &[&str] = &[
    "file",
    "command_output",
    "script",
    "returned_result",
    "final_screenshot",
    "expected_flow",
    "events",
    "all",
    "any",
];

const EVERYWHERE: &[&str] = &["type", "name", "weight"];
const TEXT_TESTS: &[&str] = &[
    "equals",
    "one_of",
    "contains",
    "not_contains",
    "matches",
    "json",
    "number",
    "tolerance",
];

impl CheckType {
    const ALL: [Self; 9] = [
        Self::File,
        Self::CommandOutput,
        Self::Script,
        Self::ReturnedResult,
        Self::FinalScreenshot,
        Self::ExpectedFlow,
        Self::Events,
        Self::All,
        Self::Any,
    ];

    pub(crate) fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::File => &["path", "exists", "sha256"],
            Self::CommandOutput => &["command", "value", "stream", "exit_status"],
            Self::Script => &["path", "script", "args"],
            Self::ReturnedResult | Self::FinalScreenshot | Self::ExpectedFlow => &["value"],
            Self::Events => &["must", "must_not"],
            Self::All => &["checks", "partial"],
            Self::Any => &["checks"],
        }
    }

    /// The keys that belong to a check of this type.
    pub(crate) fn keys(self) -> impl Iterator<Item = &'static str> {
        let tests = match self {
            Self::File | Self::CommandOutput | Self::ReturnedResult => TEXT_TESTS,
            _ => &[],
        };
        EVERYWHERE
            .iter()
            .chain(self.own_keys())
            .chain(tests)
            .copied()
    }
}

impl<'de> Deserialize<'de> for CheckType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let name = text.trim_end();
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| D::Error::unknown_variant(name, NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_own_name() {
        for kind in CheckType::ALL {
            let read: CheckType = serde_json::from_value(Value::from(kind.name())).unwrap();
            assert_eq!(read, kind);
            assert_eq!(
                serde_json::to_value(schemars::schema_for!(CheckType)).unwrap()["enum"]
                    [kind as usize],
                kind.name()
            );
        }
    }
}
