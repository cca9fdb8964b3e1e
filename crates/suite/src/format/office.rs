//! Values of keys that only checks of spreadsheets and text documents have.

use agon_core::office::{Align, ListKind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::sight::ColourFile;

/// What a cell must be. A text or a number alone: the text that is shown, or the value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a text, a number, or keys and values"
)]
#[schemars(rename = "Cell")]
pub(crate) struct CellFile {
    /// The text that is shown.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) equals: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) one_of: Option<Vec<String>>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) not_contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) matches: Option<String>,
    /// The value, whatever is shown of it.
    pub(crate) number: Option<f64>,
    /// How far the value may be away. Default: 0.
    pub(crate) tolerance: Option<f64>,
    /// Whether nothing is in it.
    pub(crate) empty: Option<bool>,
    /// A text, or tests of a text: the formula with its `=`, in English and with commas.
    #[serde(default)]
    #[schemars(schema_with = "formula_schema")]
    #[expect(
        dead_code,
        reason = "read from its own place, which may be a text or keys"
    )]
    pub(crate) formula: Option<IgnoredAny>,
    pub(crate) style: Option<StyleFile>,
}

/// Tests of a formula.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a text, or keys and values")]
#[schemars(rename = "Formula")]
pub(crate) struct FormulaFile {
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) equals: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) one_of: Option<Vec<String>>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) not_contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) matches: Option<String>,
}

/// How letters look. What is left out may be anything.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[schemars(rename = "Style")]
pub(crate) struct StyleFile {
    pub(crate) bold: Option<bool>,
    pub(crate) italic: Option<bool>,
    pub(crate) underline: Option<bool>,
    pub(crate) strike: Option<bool>,
    /// In points.
    pub(crate) size: Option<f64>,
    pub(crate) font: Option<String>,
    /// Of the letters: `"#rrggbb"`.
    pub(crate) colour: Option<ColourFile>,
    /// Of what is behind them.
    pub(crate) background: Option<ColourFile>,
    pub(crate) align: Option<AlignFile>,
}

/// About a paragraph, about words, or about all of a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[schemars(rename = "Passage")]
pub(crate) struct PassageFile {
    /// Its number among those that are not empty, from 1; those in tables don't count.
    pub(crate) paragraph: Option<u32>,
    /// Every place where exactly these words stand; there must be one.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) words: Option<String>,
    /// Everything.
    pub(crate) whole: Option<bool>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) equals: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) one_of: Option<Vec<String>>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) not_contains: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) matches: Option<String>,
    pub(crate) style: Option<StyleFile>,
    /// The name of the paragraph's style, such as `Heading 1`.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) paragraph_style: Option<String>,
    pub(crate) list: Option<ListFile>,
    pub(crate) align: Option<AlignFile>,
}

/// About a table of a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[schemars(rename = "Table")]
pub(crate) struct TableFile {
    /// Its number in the document. Default: 1.
    pub(crate) number: Option<u32>,
    pub(crate) rows: Option<u32>,
    pub(crate) columns: Option<u32>,
    /// Cells by their place, as in a spreadsheet.
    #[serde(default)]
    #[schemars(schema_with = "cells_schema")]
    #[expect(
        dead_code,
        reason = "cells are read one by one, each from its own place"
    )]
    pub(crate) cells: Option<IgnoredAny>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Align")]
pub(crate) enum AlignFile {
    Left,
    #[serde(alias = "center")]
    Centre,
    Right,
    #[serde(alias = "justify")]
    Justified,
}

impl From<AlignFile> for Align {
    fn from(align: AlignFile) -> Self {
        match align {
            AlignFile::Left => Self::Left,
            AlignFile::Centre => Self::Centre,
            AlignFile::Right => Self::Right,
            AlignFile::Justified => Self::Justified,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ListKind")]
pub(crate) enum ListFile {
    Bullet,
    Number,
    None,
}

impl From<ListFile> for ListKind {
    fn from(list: ListFile) -> Self {
        match list {
            ListFile::Bullet => Self::Bullet,
            ListFile::Number => Self::Number,
            ListFile::None => Self::None,
        }
    }
}

/// `{A1: text, "A2:B3": {empty: true}}`.
pub(super) fn cells_schema(generator: &mut SchemaGenerator) -> Schema {
    let cell = generator.subschema_for::<CellFile>();
    json_schema!({
        "type": "object",
        "propertyNames": { "pattern": "^[A-Za-z]{1,3}[0-9]{1,7}(:[A-Za-z]{1,3}[0-9]{1,7})?$" },
        "additionalProperties": { "anyOf": [{ "type": ["string", "number", "boolean"] }, cell] },
        "examples": [{ "A1": "Total", "B1": 12.5 }],
    })
}

fn formula_schema(generator: &mut SchemaGenerator) -> Schema {
    let tests = generator.subschema_for::<FormulaFile>();
    json_schema!({ "anyOf": [{ "type": "string" }, tests] })
}
