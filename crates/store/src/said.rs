//! What was said to a model and by it: short bodies stay in the event, long ones become blobs. A long
//! string inside of a body is kept once, by its content: a conversation repeats its pictures with every
//! call, and they often are those of the trial's own screens. Knows no provider.

use std::io::{self, Read};

use agon_core::{Digest, Said};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use crate::blobs::{self, Stored};
use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::plain_file::open_plain;
use crate::reader::RunReader;
use crate::writer::RunWriter;

/// What is longer is kept apart.
const SHORT: usize = 4 << 10;

/// No body of a model is longer.
const MOST: u64 = 256 << 20;

/// Bodies are not nested deeper: what is, was not made by a provider, and could not be read again.
const DEEPEST: usize = 100;

/// Stands in a body for a string that is kept apart.
const KEPT: &str = "$agon_blob";
/// What the string begins with; the blob holds the bytes that its rest is the base64 of.
const BASE64_AFTER: &str = "base64_after";
/// Holds an object of the body itself that looks like one of ours.
const PLAIN: &str = "$agon_plain";

impl RunWriter {
    /// Keeps a body of a call.
    pub fn keep_said(&self, body: &Value) -> io::Result<Said> {
        let too_deep = || Ok(Said::Here(json!("nested too deeply to be kept")));
        if is_deeper(body, DEEPEST) {
            return too_deep();
        }
        let mut body = self.shortened(body)?;
        // It would be taken for a `Said::Blob`.
        if body.get("blob").is_some() {
            body = json!({ PLAIN: body });
        }
        if is_deeper(&body, DEEPEST) {
            return too_deep();
        }
        let text = serde_json::to_vec(&body)?;
        if text.len() <= SHORT {
            return Ok(Said::Here(body));
        }
        match self.keep(&mut text.as_slice(), MOST)? {
            Stored::As { digest, bytes } => Ok(Said::Blob {
                blob: digest,
                bytes,
            }),
            Stored::TooLarge => Ok(Said::Here(json!("too long to be kept"))),
        }
    }

    /// The body with its long strings kept apart.
    fn shortened(&self, value: &Value) -> io::Result<Value> {
        Ok(match value {
            Value::String(text) if text.len() > SHORT => self.apart(text)?,
            Value::Array(items) => {
                let items = items.iter().map(|item| self.shortened(item));
                Value::Array(items.collect::<io::Result<_>>()?)
            }
            Value::Object(fields) => {
                let short =
                    |(name, value): (&String, &Value)| Ok((name.clone(), self.shortened(value)?));
                let short = Value::Object(fields.iter().map(short).collect::<io::Result<_>>()?);
                match fields.contains_key(KEPT) || fields.contains_key(PLAIN) {
                    true => json!({ PLAIN: short }),
                    false => short,
                }
            }
            other => other.clone(),
        })
    }

    fn apart(&self, text: &str) -> io::Result<Value> {
        if let Some((before, bytes)) = encoded(text) {
            let digest = Digest::of(&bytes);
            self.keep_plain(&digest, &bytes)?;
            return Ok(json!({ KEPT: digest, BASE64_AFTER: before }));
        }
        Ok(match self.keep(&mut text.as_bytes(), MOST)? {
            Stored::As { digest, .. } => json!({ KEPT: digest }),
            Stored::TooLarge => json!("too long to be kept"),
        })
    }
}

/// Whether it is nested more than `most` deep.
fn is_deeper(value: &Value, most: usize) -> bool {
    let inside = |value| most == 0 || is_deeper(value, most - 1);
    match value {
        Value::Array(items) => items.iter().any(inside),
        Value::Object(fields) => fields.values().any(inside),
        _ => false,
    }
}

/// What a string is the base64 of, if it is nothing else, and what stands before it.
fn encoded(text: &str) -> Option<(&str, Vec<u8>)> {
    let data_url = text.starts_with("data:").then(|| text.find(";base64,"));
    let begin = data_url.flatten().map_or(0, |at| at + ";base64,".len());
    let (before, rest) = text.split_at(begin);
    let bytes = BASE64_STANDARD.decode(rest).ok()?;
    // Text without blanks may look like base64: only what compresses badly is worth it.
    (!before.is_empty() || looks_packed(&bytes)).then_some((before, bytes))
}

fn looks_packed(bytes: &[u8]) -> bool {
    const PNG: &[u8] = b"\x89PNG";
    const JPEG: &[u8] = b"\xff\xd8\xff";
    [PNG, JPEG, b"RIFF", b"GIF8"]
        .iter()
        .any(|magic| bytes.starts_with(magic))
}

impl RunReader {
    /// A body as it was, put together again.
    pub fn said(&self, said: &Said) -> Result<Value, StoreError> {
        self.folder().said(said)
    }
}

impl RunFolder {
    /// A body as it was, put together again.
    pub fn said(&self, said: &Said) -> Result<Value, StoreError> {
        let mut room = MOST;
        match said {
            Said::Here(body) => self.whole(body, &mut room),
            Said::Blob { blob, .. } => {
                let text = self.read_said(blob)?;
                let body = serde_json::from_slice(&text).map_err(|error| StoreError::Broken {
                    path: self.blob(blob),
                    message: error.to_string(),
                })?;
                self.whole(&body, &mut room)
            }
        }
    }

    /// `room`: bytes that all strings together may still have which are kept apart. A few references can
    /// stand for more than fits into memory.
    fn whole(&self, value: &Value, room: &mut u64) -> Result<Value, StoreError> {
        Ok(match value {
            Value::Object(fields) => match kept_apart(fields) {
                Some((digest, None)) => {
                    let bytes = self.read_said(&digest)?;
                    self.take(room, bytes.len(), &digest)?;
                    Value::String(lossy(bytes))
                }
                Some((digest, Some(before))) => {
                    let bytes = self.read_plain(&digest)?;
                    self.take(room, bytes.len(), &digest)?;
                    Value::String(format!("{before}{}", BASE64_STANDARD.encode(bytes)))
                }
                None => self.whole_fields(plain(fields).unwrap_or(fields), room)?,
            },
            Value::Array(items) => {
                let items = items.iter().map(|item| self.whole(item, room));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }

    fn whole_fields(
        &self,
        fields: &Map<String, Value>,
        room: &mut u64,
    ) -> Result<Value, StoreError> {
        let whole = fields
            .iter()
            .map(|(name, value)| Ok((name.clone(), self.whole(value, room)?)));
        Ok(Value::Object(whole.collect::<Result<_, StoreError>>()?))
    }

    fn take(&self, room: &mut u64, bytes: usize, digest: &Digest) -> Result<(), StoreError> {
        let left = room.checked_sub(bytes as u64);
        *room = left.ok_or_else(|| StoreError::Broken {
            path: self.blob(digest),
            message: "what refers to it is larger than any body of a model".to_owned(),
        })?;
        Ok(())
    }

    fn read_said(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let path = self.blob(digest);
        let read = || -> io::Result<Vec<u8>> {
            blobs::verify(self, digest)?;
            bounded(blobs::open_compressed(self, digest)?)
        };
        read().map_err(StoreError::io("can't read", &path))
    }

    fn read_plain(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let path = self.blob(digest);
        let read = || -> io::Result<Vec<u8>> {
            blobs::verify(self, digest)?;
            bounded(open_plain(&path)?)
        };
        read().map_err(StoreError::io("can't read", &path))
    }
}

fn bounded(content: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if content.take(MOST + 1).read_to_end(&mut bytes)? as u64 > MOST {
        return Err(io::Error::other("it is larger than any body of a model"));
    }
    Ok(bytes)
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The object of the body itself that is held here.
fn plain(fields: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let held = fields.get(PLAIN).filter(|_| fields.len() == 1)?;
    held.as_object()
}

/// The blob that stands for a string, and what stands before its base64.
fn kept_apart(fields: &Map<String, Value>) -> Option<(Digest, Option<&str>)> {
    let digest = serde_json::from_value(fields.get(KEPT)?.clone()).ok()?;
    match (fields.len(), fields.get(BASE64_AFTER)) {
        (1, None) => Some((digest, None)),
        (2, Some(before)) => Some((digest, Some(before.as_str()?))),
        _ => None,
    }
}
