//! The lines of `output.jsonl`, one row each: how they are read one after the other, what must be known of
//! one without reading all of it, and what a row may look like when it is written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::error::EvalFileError;
use super::instance::{ID, id_of};
use super::mask;
use super::output::EvalOutput;

/// What is longer is no row.
const LONGEST: u64 = 1 << 30;

/// A row that would be longer is written without its history: whoever reads it has all of it in memory.
const LONGEST_WRITTEN: usize = 512 << 20;

/// What tells a row from others, and whether it counts. The rest is not read.
#[derive(Debug, Deserialize)]
pub(super) struct Peek {
    #[serde(default)]
    test_result: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    instance_id: Value,
}

impl Peek {
    pub(super) fn read(line: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(line)
    }

    pub(super) fn id(self) -> Option<String> {
        id_of(&Map::from_iter([(ID.to_owned(), self.instance_id)]))
    }

    pub(super) fn is_graded(&self) -> bool {
        let result = self.test_result.as_object();
        is_graded(result.is_none_or(Map::is_empty), self.error.is_null())
    }
}

/// Whether there is a result. What has none, for whatever reason, is worth trying again.
pub(super) const fn is_graded(without_result: bool, without_error: bool) -> bool {
    !without_result || without_error
}

pub(super) fn broken(path: &Path, line: usize, why: impl ToString) -> EvalFileError {
    EvalFileError::Broken {
        path: path.to_owned(),
        line,
        why: why.to_string(),
    }
}

/// Calls `each` with every whole line that is not empty, and its number from 1. The last one needs no end
/// of line if it is whole otherwise; if not, its number is returned.
pub(super) fn for_each_line(
    path: &Path,
    mut each: impl FnMut(usize, &[u8]) -> Result<(), EvalFileError>,
) -> Result<Option<usize>, EvalFileError> {
    let failed = || EvalFileError::io("can't read", path);
    let mut reader = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed()(error)),
    };
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let mut bounded = (&mut reader).take(LONGEST);
        let read = bounded.read_until(b'\n', &mut text).map_err(failed())?;
        let ended = text.last() == Some(&b'\n');
        if !ended && read as u64 == LONGEST {
            return Err(failed()(io::Error::other("a line never ends")));
        }
        if (ended && !text.trim_ascii().is_empty()) || is_whole(&text) {
            each(line, &text)?;
        } else if !text.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
        if !ended {
            break;
        }
    }
    Ok(None)
}

/// Whether nothing of a row is missing, although its line has no end.
pub(super) fn is_whole(text: &[u8]) -> bool {
    text.trim_ascii().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// The id of every row, and whether it holds a result.
pub(super) fn for_each_row(
    path: &Path,
    mut each: impl FnMut(String, bool),
) -> Result<(), EvalFileError> {
    for_each_line(path, |line, text| {
        let peek = Peek::read(text).map_err(|error| broken(path, line, error))?;
        let graded = peek.is_graded();
        let id = peek.id();
        let id = id.ok_or_else(|| broken(path, line, "the row has no instance_id"))?;
        each(id, graded);
        Ok(())
    })
    .map(drop)
}

/// A row as a line with its end: free of the keys that this process knows, and not longer than readers take.
pub(crate) fn line_of(row: &EvalOutput) -> io::Result<Vec<u8>> {
    within(row, LONGEST_WRITTEN)
}

fn within(row: &EvalOutput, most: usize) -> io::Result<Vec<u8>> {
    let mut line = mask::row(row)?;
    if line.len() >= most {
        line = mask::row(&EvalOutput {
            history: None,
            ..row.clone()
        })?;
    }
    if line.len() >= most {
        return Err(io::Error::other("the row is too long to be written"));
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::history;
    use crate::dialect::tests::{conversation, recorded};
    use crate::events::History;

    fn row() -> EvalOutput {
        let events = conversation();
        EvalOutput {
            instance_id: "a".to_owned(),
            test_result: json!({"result": true}).as_object().cloned().unwrap(),
            instruction: None,
            metadata: None,
            history: Some(History::Flat(history(&recorded(&events)))),
            metrics: None,
            error: None,
            instance: None,
        }
    }

    #[test]
    fn a_row_that_is_too_long_loses_its_history_and_not_its_result() {
        let whole = within(&row(), 1 << 20).unwrap();
        let bare = within(&row(), whole.len() - 1).unwrap();
        assert!(bare.len() < whole.len() && bare.ends_with(b"\n"));
        let back: EvalOutput = serde_json::from_slice(&bare).unwrap();
        assert_eq!((back.history, back.test_result), (None, row().test_result));
        assert!(within(&row(), 10).is_err());
    }

    #[test]
    fn what_is_known_of_a_row_is_what_the_whole_row_says() {
        for (error, result) in [
            (json!(null), json!({})),
            (json!("x"), json!({})),
            (json!("x"), json!({"result": false})),
        ] {
            let line = json!({"instance_id": 7, "error": error, "test_result": result});
            let line = line.to_string();
            let whole: EvalOutput = serde_json::from_str(&line).unwrap();
            let peek = Peek::read(line.as_bytes()).unwrap();
            assert_eq!(peek.is_graded(), whole.is_graded());
            assert_eq!(peek.id(), Some(whole.instance_id));
        }
        assert!(!is_whole(b"{\"a\":1") && !is_whole(b"12") && !is_whole(b""));
        assert!(is_whole(b" {\"a\":1} "));
    }
}
