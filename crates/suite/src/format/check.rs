//! The keys of a check. They stand in one flat type, so that a key on the wrong type of check can
//! be named as such.

use agon_core::{ActionKind, Digest};
use schemars::JsonSchema;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::sight::{ColourFile, NumberFile, RegionFile};

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
    /// file, spreadsheet, document: below the working folder. script, reward, template: below `verify/`.
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
    /// file, window: whether it is there.
    pub(crate) exists: Option<bool>,
    /// command_output: the expected exit status; without it, any. process: it has ended with this.
    pub(crate) exit_status: Option<i32>,
    /// command_output: which output is looked at. Default: stdout.
    pub(crate) stream: Option<StreamFile>,
    /// The text is one number, at most `tolerance` away from this. screen_text: with keys of its
    /// own, a number among what can be read. answer: `true` takes `equals` and `one_of` as numbers.
    pub(crate) number: Option<NumberFile>,
    /// Default: 0. pixel: for each of red, green and blue.
    pub(crate) tolerance: Option<f64>,
    /// screen_text, region_changed, template: `[x, y, width, height]`. Without it: the whole screen.
    pub(crate) region: Option<RegionFile>,
    /// pixel: from the left.
    pub(crate) x: Option<u32>,
    /// pixel: from above.
    pub(crate) y: Option<u32>,
    /// pixel: `"#rrggbb"`.
    pub(crate) colour: Option<ColourFile>,
    /// region_changed: the share of the pixels that differ from the first screen. Default: 0.01.
    pub(crate) share: Option<f64>,
    /// region_changed: whether so many do. Default: true.
    pub(crate) changed: Option<bool>,
    /// template: how alike, up to 1. Default: 0.9.
    pub(crate) likeness: Option<f64>,
    /// template: whether it is there. Default: true.
    pub(crate) shown: Option<bool>,
    /// window: part of its title.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) title: Option<String>,
    /// process: part of one of the environment's `apps`.
    pub(crate) app: Option<String>,
    /// process: whether it runs.
    pub(crate) alive: Option<bool>,
    /// answer: a regular expression; its group, or the whole of it, is the answer. Without it: the whole
    /// text is.
    pub(crate) pattern: Option<String>,
    /// answer: whether upper and lower case differ. Default: true.
    pub(crate) case: Option<bool>,
    /// events: each of these was done.
    pub(crate) must: Option<Vec<PatternFile>>,
    /// events: none of these was done.
    pub(crate) must_not: Option<Vec<PatternFile>>,
    /// script, reward: the same as `path`.
    pub(crate) script: Option<String>,
    /// script: arguments.
    pub(crate) args: Option<Vec<String>>,
    /// spreadsheet: the name of the sheet that is looked at. Default: the first.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) sheet: Option<String>,
    /// spreadsheet: the names of all sheets, in order.
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) sheets: Option<Vec<String>>,
    /// spreadsheet: what cells must be, by their place: `{A1: Total, "B1:B3": {style: {bold: true}}}`.
    #[serde(default)]
    #[schemars(schema_with = "super::office::cells_schema")]
    #[expect(
        dead_code,
        reason = "cells are read one by one, each from its own place"
    )]
    pub(crate) cells: Option<IgnoredAny>,
    /// spreadsheet: rows in use.
    pub(crate) rows: Option<u32>,
    /// spreadsheet: columns in use.
    pub(crate) columns: Option<u32>,
    /// spreadsheet: charts on the sheet.
    pub(crate) charts: Option<u32>,
    /// document: paragraphs outside of tables that are not empty.
    pub(crate) paragraphs: Option<u32>,
    /// document: paragraphs and words, and how they look.
    #[schemars(with = "Option<Vec<super::office::PassageFile>>")]
    #[expect(
        dead_code,
        reason = "passages are read one by one, each from its own place"
    )]
    pub(crate) passages: Option<IgnoredAny>,
    /// document: its tables.
    #[schemars(with = "Option<Vec<super::office::TableFile>>")]
    #[expect(
        dead_code,
        reason = "tables are read one by one, each from its own place"
    )]
    pub(crate) tables: Option<IgnoredAny>,
    /// document: pictures in it.
    pub(crate) pictures: Option<u32>,
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
    Reward,
    ReturnedResult,
    Answer,
    FinalScreenshot,
    ExpectedFlow,
    Events,
    ScreenText,
    Pixel,
    RegionChanged,
    Template,
    Window,
    Process,
    Spreadsheet,
    Document,
    All,
    Any,
}

const NAMES: &[&str] = &[
    "file",
    "command_output",
    "script",
    "reward",
    "returned_result",
    "answer",
    "final_screenshot",
    "expected_flow",
    "events",
    "screen_text",
    "pixel",
    "region_changed",
    "template",
    "window",
    "process",
    "spreadsheet",
    "document",
    "all",
    "any",
];

const TYPE: &[&str] = &["type"];
const CHECKS_ONLY: &[&str] = &["name", "weight"];
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
/// What can be read off a screen is nobody's JSON.
const SCREEN_TESTS: &[&str] = &[
    "equals",
    "one_of",
    "contains",
    "not_contains",
    "matches",
    "number",
    "tolerance",
];
const DOCUMENT_TESTS: &[&str] = &["equals", "one_of", "contains", "not_contains", "matches"];

impl CheckType {
    const ALL: [Self; 19] = [
        Self::File,
        Self::CommandOutput,
        Self::Script,
        Self::Reward,
        Self::ReturnedResult,
        Self::Answer,
        Self::FinalScreenshot,
        Self::ExpectedFlow,
        Self::Events,
        Self::ScreenText,
        Self::Pixel,
        Self::RegionChanged,
        Self::Template,
        Self::Window,
        Self::Process,
        Self::Spreadsheet,
        Self::Document,
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
            Self::Reward => &["path", "script"],
            Self::ReturnedResult | Self::FinalScreenshot | Self::ExpectedFlow => &["value"],
            Self::Answer => &["pattern", "equals", "one_of", "number", "tolerance", "case"],
            Self::Events => &["must", "must_not"],
            Self::ScreenText => &["region"],
            Self::Pixel => &["x", "y", "colour", "tolerance"],
            Self::RegionChanged => &["region", "share", "changed"],
            Self::Template => &["path", "region", "likeness", "shown"],
            Self::Window => &["title", "matches", "exists"],
            Self::Process => &["app", "alive", "exit_status"],
            Self::Spreadsheet => &[
                "path", "sheet", "sheets", "cells", "rows", "columns", "charts",
            ],
            Self::Document => &["path", "paragraphs", "passages", "tables", "pictures"],
            Self::All => &["checks", "partial"],
            Self::Any => &["checks"],
        }
    }

    /// The keys that belong to a check of this type.
    pub(crate) fn keys(self) -> impl Iterator<Item = &'static str> {
        let own = self.keys_of_its_own().filter(|key| *key != "type");
        TYPE.iter().chain(CHECKS_ONLY).copied().chain(own)
    }

    /// The same without those that every check has beside its type.
    pub(crate) fn keys_of_its_own(self) -> impl Iterator<Item = &'static str> {
        let tests = match self {
            Self::File | Self::CommandOutput | Self::ReturnedResult => TEXT_TESTS,
            Self::ScreenText => SCREEN_TESTS,
            Self::Document => DOCUMENT_TESTS,
            _ => &[],
        };
        TYPE.iter().chain(self.own_keys()).chain(tests).copied()
    }

    /// Whether a check of this type looks at the screen, or at what stands around it.
    pub(crate) fn is_sight(self) -> bool {
        matches!(
            self,
            Self::ScreenText
                | Self::Pixel
                | Self::RegionChanged
                | Self::Template
                | Self::Window
                | Self::Process
        )
    }

    /// Those that do.
    pub(crate) fn sights() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| kind.is_sight())
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
