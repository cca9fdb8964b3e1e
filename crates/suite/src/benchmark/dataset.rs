//! The rows of a dataset: `.jsonl`, `.json` or `.csv`. Bounded, because datasets come from elsewhere.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::SuiteError;

const MAX_BYTES: u64 = 64 << 20;
const MAX_ROWS: usize = 100_000;
const MAX_ROW: usize = 1 << 20;

pub(super) type Fields = Map<String, Value>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) fields: Arc<Fields>,
    /// The line that it begins in, from 1; 0 where that is not known.
    pub(super) line: usize,
}

pub(super) fn read(path: &Path) -> Result<Vec<Row>, SuiteError> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let rows = match ending {
        Some("jsonl") => lines(path, &text(path)?),
        Some("json") => list(path, &text(path)?),
        Some("csv") => table(path, &text(path)?),
        _ => Err(SuiteError::layout_help(
            path,
            "is no dataset",
            "a dataset is a .jsonl, .json or .csv file",
        )),
    }?;
    if rows.is_empty() {
        return Err(SuiteError::layout(path, "the dataset has no rows"));
    }
    Ok(rows)
}

/// An error in a line of a dataset. Rows may be long, so they are not shown.
pub(super) fn wrong(path: &Path, line: usize, message: impl Into<String>) -> SuiteError {
    match line {
        0 => SuiteError::layout(path, message),
        _ => SuiteError::layout(format!("{}:{line}", path.display()), message),
    }
}

fn text(path: &Path) -> Result<String, SuiteError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| SuiteError::unreadable(path, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(SuiteError::layout(
            path,
            "the dataset is larger than 64 MiB",
        ));
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|_| SuiteError::layout(path, "the dataset is not UTF-8 text"))?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn lines(path: &Path, text: &str) -> Result<Vec<Row>, SuiteError> {
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        room(path, at + 1, rows.len(), line.len())?;
        let value = serde_json::from_str(line)
            .map_err(|error| wrong(path, at + 1, format!("this is no JSON: {}", reason(&error))))?;
        rows.push(row(path, at + 1, value)?);
    }
    Ok(rows)
}

fn list(path: &Path, text: &str) -> Result<Vec<Row>, SuiteError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        wrong(
            path,
            error.line(),
            format!("this is no JSON: {}", reason(&error)),
        )
    })?;
    let Value::Array(values) = value else {
        return Err(SuiteError::layout(path, "expected a list of objects"));
    };
    let mut rows = Vec::with_capacity(values.len().min(MAX_ROWS));
    for value in values {
        let size = serde_json::to_vec(&value).map_or(0, |bytes| bytes.len());
        room(path, 0, rows.len(), size)?;
        rows.push(row(path, 0, value)?);
    }
    Ok(rows)
}

fn table(path: &Path, text: &str) -> Result<Vec<Row>, SuiteError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let failed = |error: csv::Error| {
        let line = error.position().map_or(0, |place| place.line());
        let line = usize::try_from(line).unwrap_or(0);
        wrong(path, line, format!("this is no CSV: {error}"))
    };
    let names = reader.headers().map_err(failed)?.clone();
    for (at, name) in names.iter().enumerate() {
        if names.iter().take(at).any(|other| other == name) {
            return Err(wrong(path, 1, format!("the column `{name}` is here twice")));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let line = record.position().map_or(0, |place| place.line());
        let line = usize::try_from(line).unwrap_or(0);
        room(path, line, rows.len(), record.as_slice().len())?;
        let cells = names.iter().zip(record.iter());
        let fields = cells.map(|(name, cell)| (name.to_owned(), Value::from(cell)));
        rows.push(Row {
            fields: Arc::new(fields.collect()),
            line,
        });
    }
    Ok(rows)
}

fn row(path: &Path, line: usize, value: Value) -> Result<Row, SuiteError> {
    match value {
        Value::Object(fields) => Ok(Row {
            fields: Arc::new(fields),
            line,
        }),
        _ => Err(wrong(
            path,
            line,
            "expected an object with the row's fields",
        )),
    }
}

/// Whether another row of this size may come.
fn room(path: &Path, line: usize, rows: usize, size: usize) -> Result<(), SuiteError> {
    if size > MAX_ROW {
        return Err(wrong(path, line, "the row is larger than 1 MiB"));
    }
    if rows >= MAX_ROWS {
        let message = format!("the dataset has more than {MAX_ROWS} rows");
        return Err(wrong(path, line, message));
    }
    Ok(())
}

/// Without the place, which we tell ourselves.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn write(name: &str, content: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        (folder, path)
    }

    fn rows(name: &str, content: &str) -> Result<Vec<Value>, String> {
        let (_folder, path) = write(name, content.as_bytes());
        let rows =
            read(&path).map_err(|error| error.line().replace(&path.display().to_string(), name))?;
        Ok(rows
            .into_iter()
            .map(|row| Value::Object(row.fields.as_ref().clone()))
            .collect())
    }

    #[test]
    fn three_formats_say_the_same() {
        let expected = Ok(vec![
            json!({"id": "a", "n": "1"}),
            json!({"id": "b,\n", "n": ""}),
        ]);
        let lines = "{\"id\": \"a\", \"n\": \"1\"}\n\n{\"id\": \"b,\\n\", \"n\": \"\"}\r\n";
        assert_eq!(rows("d.jsonl", lines), expected);
        let list = "[{\"id\": \"a\", \"n\": \"1\"}, {\"id\": \"b,\\n\", \"n\": \"\"}]";
        assert_eq!(rows("d.json", list), expected);
        assert_eq!(rows("d.csv", "\u{feff}id,n\na,1\n\"b,\n\",\n"), expected);
    }

    #[test]
    fn errors_name_the_line() {
        for (name, content, expected) in [
            (
                "d.jsonl",
                "{}\n\n{\"a\": }\n",
                "d.jsonl:3: this is no JSON: expected value",
            ),
            ("d.jsonl", "[1]\n", "d.jsonl:1: expected an object"),
            ("d.jsonl", "\n", "d.jsonl: the dataset has no rows"),
            ("d.json", "[\n{},\n{]\n", "d.json:3: this is no JSON"),
            ("d.json", "{}", "d.json: expected a list"),
            ("d.csv", "a,b\n1,2\n3\n", "d.csv:3: this is no CSV"),
            (
                "d.csv",
                "a,a\n1,2\n",
                "d.csv:1: the column `a` is here twice",
            ),
            ("d.txt", "a", "d.txt: is no dataset"),
        ] {
            let error = rows(name, content).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn datasets_are_bounded() {
        let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(MAX_ROW));
        assert!(rows("d.jsonl", &long).unwrap_err().contains("1 MiB"));
        assert!(
            rows("d.json", &format!("[{long}]"))
                .unwrap_err()
                .contains("1 MiB")
        );
        assert!(rows("d.csv", &format!("a\n{}\n", "x".repeat(MAX_ROW + 1))).is_err());
        let many = "{}\n".repeat(MAX_ROWS + 1);
        assert!(rows("d.jsonl", &many).unwrap_err().contains("100000 rows"));
        let deep = "[".repeat(100_000);
        assert!(rows("d.jsonl", &format!("{{\"a\": {deep}")).is_err());
    }

    proptest! {
        #[test]
        fn anything_is_rows_or_an_error(content in proptest::collection::vec(any::<u8>(), 0..200)) {
            for name in ["d.jsonl", "d.json", "d.csv"] {
                let (_folder, path) = write(name, &content);
                let _ = read(&path);
            }
        }

        #[test]
        fn what_is_written_is_read(
            cells in proptest::collection::vec(("\\PC{0,20}", "\\PC{0,20}[\n\",]?"), 1..20)
        ) {
            let mut lines = String::new();
            let mut table = csv::Writer::from_writer(Vec::new());
            table.write_record(["id", "text"]).unwrap();
            let expected: Vec<Value> =
                cells.iter().map(|(id, text)| json!({"id": id, "text": text})).collect();
            for (row, (id, text)) in expected.iter().zip(&cells) {
                lines += &format!("{row}\n");
                table.write_record([id, text]).unwrap();
            }
            let table = String::from_utf8(table.into_inner().unwrap()).unwrap();
            let list = Value::from(expected.clone()).to_string();
            prop_assert_eq!(rows("d.jsonl", &lines), Ok(expected.clone()));
            prop_assert_eq!(rows("d.json", &list), Ok(expected.clone()));
            prop_assert_eq!(rows("d.csv", &table), Ok(expected));
        }
    }
}
