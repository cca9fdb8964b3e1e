//! The lines of a tape, read one by one. A tape may come from anywhere: every line is bounded and
//! checked, and an error says which one it is.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use agon_core::digest::Hasher;
use agon_core::{Digest, ModelFault};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::{key, wire_name, wire_of};
use super::text;
use crate::error::LlmError;
use crate::spec::Wire;

pub(super) const HEADER: &str = "{\"agon_tape\":1}\n";
const FORMAT: u64 = 1;

/// No line is longer: a body of 64 MiB, escaped.
const LONGEST: u64 = 512 << 20;

/// One line as it is written. Which fields are there says what it is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wire: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Value>,
    /// Nothing in `body` and `response` is a reference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) plain: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) is: Option<String>,
}

/// One call of a tape.
pub(super) struct Call {
    pub(super) key: Digest,
    pub(super) wire: Wire,
    pub(super) model: String,
    /// With references to long texts, as it stands on the tape.
    pub(super) short: Value,
    pub(super) response: Value,
    /// Its place in the file.
    pub(super) at: u64,
    pub(super) bytes: u64,
    /// Its line, from 1.
    pub(super) number: u64,
}

/// What reading a whole tape found beside its calls.
pub(super) struct Content {
    /// Over the bytes of all whole lines.
    pub(super) digest: Digest,
    /// Where the last whole line ends.
    pub(super) length: u64,
    pub(super) texts: HashMap<Digest, String>,
}

/// Reads all whole lines. A last line without an end was never finished and does not count.
pub(super) fn read(path: &Path, mut each: impl FnMut(Call)) -> Result<Content, LlmError> {
    let unread = |error: std::io::Error| setup(path, format_args!("can't be read: {error}"));
    let file = File::open(path).map_err(unread)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut hasher = Hasher::default();
    let mut texts = HashMap::new();
    let (mut at, mut number, mut line) = (0, 0, Vec::new());
    loop {
        line.clear();
        let bytes = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        let bytes = bytes.map_err(unread)? as u64;
        number += 1;
        if line.last() != Some(&b'\n') {
            if number == 1 && bytes > 0 {
                return Err(no_tape(path));
            }
            if bytes == LONGEST {
                return Err(setup(path, format_args!("line {number} is too long")));
            }
            break;
        }
        hasher.update(&line);
        if number == 1 {
            header(path, &line)?;
        } else {
            let wrong = |why: String| setup(path, format_args!("line {number}: {why}"));
            if let Some(mut call) = understand(&line, &mut texts).map_err(wrong)? {
                (call.at, call.bytes, call.number) = (at, bytes, number);
                each(call);
            }
        }
        at += bytes;
    }
    Ok(Content {
        digest: hasher.finish(),
        length: at,
        texts,
    })
}

fn header(path: &Path, line: &[u8]) -> Result<(), LlmError> {
    let header: Option<Value> = serde_json::from_slice(line).ok();
    match header.as_ref().and_then(|header| header.get("agon_tape")) {
        None => Err(no_tape(path)),
        Some(format) if format.as_u64() == Some(FORMAT) => Ok(()),
        Some(format) => Err(setup(
            path,
            format_args!("is a tape of format {format}, this version reads {FORMAT}"),
        )),
    }
}

fn understand(line: &[u8], texts: &mut HashMap<Digest, String>) -> Result<Option<Call>, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if let (Some(digest), Some(text)) = (line.text, line.is) {
        if Digest::of(text.as_bytes()) != digest {
            return Err("its text is not what it was".to_owned());
        }
        texts.insert(digest, text);
        return Ok(None);
    }
    let (Some(wire), Some(model), Some(short), Some(response)) =
        (line.wire, line.model, line.body, line.response)
    else {
        return Err("neither a call (wire, model, body, response) nor a text".to_owned());
    };
    let wire = wire_of(&wire).ok_or_else(|| format!("no wire is called `{wire}`"))?;
    let restore = |value: Value| match line.plain {
        true => Ok(value),
        false => text::whole(value, texts)
            .map_err(|name| format!("the text {name} is not on the tape before it")),
    };
    let found = key(wire, &model, &restore(short.clone())?);
    if line.key.is_some_and(|written| written != found) {
        let why = "its key is not that of its request: leave `key` out where you wrote it by hand";
        return Err(why.to_owned());
    }
    Ok(Some(Call {
        key: found,
        wire,
        model,
        response: restore(response)?,
        short,
        at: 0,
        bytes: 0,
        number: 0,
    }))
}

impl Call {
    /// The lines that keep a call: the texts that are not `known` to be on the tape, which are named as
    /// well, and the call itself.
    pub(super) fn lines(
        wire: Wire,
        model: &str,
        body: &Value,
        response: &Value,
        known: &HashSet<Digest>,
    ) -> serde_json::Result<(Vec<u8>, HashSet<Digest>)> {
        let mut texts = Vec::new();
        let mut note = |digest, text| texts.push((digest, text));
        let short = text::shortened(body, &mut note).zip(text::shortened(response, &mut note));
        let plain = short.is_none();
        let (short_body, short_response) =
            short.unwrap_or_else(|| (body.clone(), response.clone()));
        let (mut lines, mut added) = (Vec::new(), HashSet::new());
        if !plain {
            for (digest, text) in texts {
                if !known.contains(&digest) && added.insert(digest) {
                    push(
                        &mut lines,
                        &Line {
                            text: Some(digest),
                            is: Some(text.to_owned()),
                            ..Line::default()
                        },
                    )?;
                }
            }
        }
        push(
            &mut lines,
            &Line {
                key: Some(key(wire, model, body)),
                wire: Some(wire_name(wire).to_owned()),
                model: Some(model.to_owned()),
                body: Some(short_body),
                response: Some(short_response),
                plain,
                ..Line::default()
            },
        )?;
        Ok((lines, added))
    }
}

fn push(lines: &mut Vec<u8>, line: &Line) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *lines, line)?;
    lines.push(b'\n');
    Ok(())
}

pub(super) fn setup(path: &Path, why: std::fmt::Arguments<'_>) -> LlmError {
    let path = path.display();
    LlmError::new(ModelFault::Setup, format_args!("the tape {path}: {why}"))
}

fn no_tape(path: &Path) -> LlmError {
    setup(
        path,
        format_args!("is no tape: its first line is not {}", HEADER.trim_end()),
    )
}
