//! `config.toml` into sections with places. Errors give the place and the parser's words, and never a
//! line of the file: it may hold a key.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::fields::{Fields, Origin};
use super::raw::Raw;

/// Larger files are no configuration.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// A file of which sections are taken one by one.
pub(super) struct Document<'a> {
    /// For places: `config.toml`.
    name: &'a str,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

/// `[llm]` and all `[llm.NAME]`.
#[derive(Default)]
pub(super) struct Group {
    pub(super) base: Fields,
    /// In the order of the file.
    pub(super) named: Vec<(String, Fields)>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(name: &'a str, text: &'a str) -> Result<Self, ConfigError> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Self { name, text, table }),
            Err(error) => Err(ConfigError::NotToml {
                place: place(name, text, &error.span().unwrap_or(0..0)),
                why: said(error.message(), text),
            }),
        }
    }

    /// Sections that are none of `known`, with their places.
    pub(super) fn others(&self, known: &[&str]) -> Vec<(String, String)> {
        let table = self.table.get_ref().iter();
        table
            .filter(|(key, _)| !known.contains(&key.get_ref().as_ref()))
            .map(|(key, _)| {
                (
                    key.get_ref().chars().take(60).collect(),
                    self.place(&key.span()),
                )
            })
            .collect()
    }

    pub(super) fn section(&self, name: &str) -> Result<Option<Fields>, ConfigError> {
        let Some(table) = self.find(name)? else {
            return Ok(None);
        };
        let mut fields = Fields::new(name);
        for (key, value) in table {
            let origin = Origin::Place(self.place(&key.span()));
            fields.set(
                key.get_ref().to_string(),
                Raw::from_toml(value.get_ref()),
                origin,
            );
        }
        Ok(Some(fields))
    }

    /// Tables in the section are named sections, but for the keys `tables`, which are tables themselves.
    pub(super) fn group(&self, kind: &str, tables: &[&str]) -> Result<Option<Group>, ConfigError> {
        let Some(table) = self.find(kind)? else {
            return Ok(None);
        };
        let mut base = Fields::new(kind);
        let mut named = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            match value.get_ref() {
                DeValue::Table(inner) if !tables.contains(&name) => {
                    let mut fields = Fields::new(format!("{kind}.{name}"));
                    for (key, value) in inner {
                        let origin = Origin::Place(self.place(&key.span()));
                        let raw = Raw::from_toml(value.get_ref());
                        fields.set(key.get_ref().to_string(), raw, origin);
                    }
                    named.push((key.span().start, name.to_owned(), fields));
                }
                other => {
                    let origin = Origin::Place(self.place(&key.span()));
                    base.set(name, Raw::from_toml(other), origin);
                }
            }
        }
        named.sort_by_key(|(start, ..)| *start);
        let named = named.into_iter().map(|(_, name, fields)| (name, fields));
        Ok(Some(Group {
            base,
            named: named.collect(),
        }))
    }

    fn find(&self, name: &str) -> Result<Option<&DeTable<'a>>, ConfigError> {
        let Some((key, value)) = self.table.get_ref().get_key_value(name) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(table)),
            _ => Err(ConfigError::NotATable {
                place: self.place(&key.span()),
                section: name.to_owned(),
            }),
        }
    }

    fn place(&self, span: &Range<usize>) -> String {
        place(self.name, self.text, span)
    }
}

fn place(name: &str, text: &str, span: &Range<usize>) -> String {
    let before = text.as_bytes().get(..span.start).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    format!("{name}:{line}")
}

/// The parser's words, unless they repeat a word of a value.
fn said(message: &str, text: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    let values = text.lines().filter_map(|line| line.split_once('='));
    let mut words =
        values.flat_map(|(_, value)| value.split(|c: char| !(c.is_alphanumeric() || c == '-')));
    if words.any(|word| word.len() >= 6 && !is_plain(word) && message.contains(word)) {
        "look at this line".to_owned()
    } else {
        message
    }
}

/// An ordinary word of a message, such as `string`.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-live-9f8e7d6c5b4a";

    #[test]
    fn no_error_of_the_parser_shows_a_key() {
        for text in [
            format!("[llm]\napi_key = {KEY}\n"),
            format!("[llm]\napi_key = \"{KEY}\n"),
            format!("[llm]\napi_key = '{KEY}\"\n"),
            format!("[llm]\napi_key = \"{KEY}\" \"x\"\n"),
            format!("[llm]\n{KEY}\n"),
            format!("[llm]\napi_key \"{KEY}\"\n"),
            format!("[llm]\n\"{KEY}\" = 1\n\"{KEY}\" = 2\n"),
            format!("[llm]\napi_key = \"\\q{KEY}\"\n"),
            format!("[llm\napi_key = \"{KEY}\"\n"),
        ] {
            let error = Document::parse("config.toml", &text).err();
            let said = error
                .map(|error| format!("{error} {error:?}"))
                .unwrap_or_default();
            assert!(said.contains("config.toml:"), "{text}: {said}");
            assert!(!said.contains("9f8e7d"), "{said}");
        }
    }

    #[test]
    fn places_and_order_are_those_of_the_file() {
        let text = "[llm]\nmodel = 'a'\n[llm.z]\nseed = 1\n[llm.b]\nseed = 2\n[llm.completion_kwargs]\nx = 1\n";
        let document = Document::parse("c.toml", text).unwrap();
        let group = document
            .group("llm", &["completion_kwargs"])
            .unwrap()
            .unwrap();
        let names: Vec<_> = group.named.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["z", "b"]);
        let seed = group.named[1].1.origin("seed");
        assert_eq!(seed, Some(&Origin::Place("c.toml:6".to_owned())));
        assert!(group.base.has("completion_kwargs"));
    }

    #[test]
    fn a_section_must_be_a_table() {
        let document = Document::parse("c.toml", "llm = 3\n").unwrap();
        let error = document
            .group("llm", &[])
            .err()
            .map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some("c.toml:1: `llm` must be a table: begin it with [llm]")
        );
    }
}
