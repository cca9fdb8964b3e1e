//! The keys of an `answer` check.

use agon_core::answer::AnswerCheck;
use regex::Regex;

use super::check::Reader;
use crate::answer::{Expected, Extracted, Number};
use crate::format::NumberFile;
use crate::patterns::{Use, compiled};
use crate::source::NodeError;

pub(super) fn answer(reader: &Reader<'_>) -> Result<AnswerCheck, NodeError> {
    let file = reader.file;
    let pattern = match &file.pattern {
        Some(pattern) => Some(regex(reader, pattern)?),
        None => None,
    };
    let mut texts: Vec<String> = file.equals.iter().cloned().collect();
    if let Some(more) = &file.one_of {
        if more.is_empty() {
            return Err(reader.wrong("one_of", "`one_of` is empty: nothing could pass"));
        }
        texts.extend_from_slice(more);
    }
    if file.equals.is_some() && file.one_of.is_some() {
        return Err(reader.wrong("one_of", "write `equals` or `one_of`, not both"));
    }
    let expected = match &file.number {
        Some(NumberFile::Plain(value)) if texts.is_empty() => {
            numbers(reader, vec![Number::Real(*value)])?
        }
        Some(NumberFile::Plain(_)) => {
            let message = "there are two answers: `number` and the text beside it";
            return Err(reader
                .wrong("number", message)
                .help("write `number: true` to take the text as a number"));
        }
        Some(NumberFile::Shown(_)) => {
            return Err(reader.wrong("number", "expected a number, or true"));
        }
        Some(NumberFile::Said(true)) if !texts.is_empty() => {
            let key = if file.equals.is_some() {
                "equals"
            } else {
                "one_of"
            };
            let number = |text: &String| {
                let message = || format!("`{text}` is no number, and `number: true` asks for one");
                Number::parse(text).ok_or_else(|| reader.wrong(key, message()))
            };
            let values = texts.iter().map(number).collect::<Result<_, _>>()?;
            numbers(reader, values)?
        }
        Some(NumberFile::Said(_)) | None => words(reader, texts)?,
    };
    Ok(AnswerCheck::new(Extracted { pattern, expected }))
}

fn words(reader: &Reader<'_>, texts: Vec<String>) -> Result<Expected, NodeError> {
    if texts.is_empty() {
        return Err(reader
            .wrong("type", "this answer check does not say what is right")
            .help("add one of: equals, one_of, number"));
    }
    if texts.iter().any(|text| text.trim().is_empty()) {
        let key = if reader.file.equals.is_some() {
            "equals"
        } else {
            "one_of"
        };
        return Err(reader.wrong(key, "the right answer is empty"));
    }
    if reader.file.tolerance.is_some() {
        return Err(reader.wrong("tolerance", "`tolerance` needs `number` beside it"));
    }
    let case = reader.file.case.unwrap_or(true);
    Ok(Expected::Texts { texts, case })
}

fn numbers(reader: &Reader<'_>, values: Vec<Number>) -> Result<Expected, NodeError> {
    if reader.file.case.is_some() {
        return Err(reader.wrong("case", "numbers have no upper and lower case"));
    }
    let tolerance = reader.file.tolerance.unwrap_or(0.0);
    if tolerance < 0.0 {
        return Err(reader.wrong("tolerance", "a tolerance can't be negative"));
    }
    Ok(Expected::Numbers { values, tolerance })
}

fn regex(reader: &Reader<'_>, pattern: &str) -> Result<Regex, NodeError> {
    let regex =
        compiled(pattern, Use::Answer).map_err(|message| reader.wrong("pattern", message))?;
    if regex.captures_len() > 2 {
        return Err(reader
            .wrong(
                "pattern",
                "the pattern has several groups: which one is the answer?",
            )
            .help("write (?:...) for groups that are not the answer"));
    }
    Ok(regex)
}
