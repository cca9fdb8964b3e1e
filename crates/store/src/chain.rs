//! Ties the lines of `trials.jsonl` together: each ends with a digest over itself and over the digest of the line
//! before, so that a line that was changed, taken out or put in later does not fit. Knows nothing of what lines
//! say, but that the word `final` may have been taken back in place.

use agon_core::Digest;
use agon_core::digest::Hasher;

use crate::writer::{FALSE, PADDED_TRUE};

const KEY: &[u8] = b",\"chain\":\"";
const END: &[u8] = b"\"}";
const HEX: usize = 64;
/// How a line says that it is not final.
const NOT_FINAL: &[u8] = b"\"final\":false";

/// Whether a line is what was written after the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    AsWritten,
    /// It was final when it was written, and no longer says so.
    Withdrawn,
    Changed,
}

/// A line as it was written, and the digest that it ends with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link<'a> {
    text: &'a [u8],
    pub(crate) digest: Digest,
}

/// Adds the digest to a line, an object of JSON without its line break. `before` is that of the line before;
/// the first one has none.
pub(crate) fn tie(line: &mut Vec<u8>, before: Option<Digest>) -> Digest {
    line.pop();
    let digest = digest(before, [line.as_slice()]);
    line.extend_from_slice(KEY);
    line.extend_from_slice(digest.to_hex().as_bytes());
    line.extend_from_slice(END);
    digest
}

fn digest<'a>(before: Option<Digest>, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hasher = Hasher::default();
    hasher.update(before.map_or([0; 32], |before| *before.bytes()).as_slice());
    for part in parts {
        hasher.update(part);
    }
    hasher.finish()
}

impl<'a> Link<'a> {
    /// `None`: the line has no digest.
    pub(crate) fn of(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_suffix(END)?;
        let (rest, hex) = rest.split_at_checked(rest.len().checked_sub(HEX)?)?;
        Some(Self {
            text: rest.strip_suffix(KEY)?,
            digest: Digest::from_hex(std::str::from_utf8(hex).ok()?)?,
        })
    }

    pub(crate) fn fits(&self, before: Option<Digest>) -> Fit {
        if digest(before, [self.text]) == self.digest {
            return Fit::AsWritten;
        }
        // The task's name comes first and can't hold quotes, so that the first match is the key itself.
        let mut parts = self.text.windows(NOT_FINAL.len());
        let Some(at) = parts.position(|part| part == NOT_FINAL) else {
            return Fit::Changed;
        };
        let end = at + NOT_FINAL.len();
        let written = [
            &self.text[..end - FALSE.len()],
            PADDED_TRUE,
            &self.text[end..],
        ];
        match digest(before, written) == self.digest {
            true => Fit::Withdrawn,
            false => Fit::Changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tied(text: &str, before: Option<Digest>) -> (Vec<u8>, Digest) {
        let mut line = text.as_bytes().to_vec();
        let digest = tie(&mut line, before);
        (line, digest)
    }

    #[test]
    fn a_line_fits_only_as_it_was_written_and_where_it_was_written() {
        let (first, one) = tied(r#"{"task":"a/b","final":true ,"score":0.0}"#, None);
        let (second, two) = tied(r#"{"task":"a/c","final":false,"score":1.0}"#, Some(one));
        let fit = |line: &[u8], before| Link::of(line).map(|link| link.fits(before));
        assert_eq!(fit(&first, None), Some(Fit::AsWritten));
        assert_eq!(fit(&second, Some(one)), Some(Fit::AsWritten));
        assert_eq!(fit(&second, None), Some(Fit::Changed));
        assert_eq!(fit(&second, Some(two)), Some(Fit::Changed));
        let replaced = |from: &str, to: &str| {
            let text = String::from_utf8(first.clone()).unwrap();
            text.replacen(from, to, 1).into_bytes()
        };
        assert_eq!(fit(&replaced("0.0", "1.0"), None), Some(Fit::Changed));
        assert_eq!(fit(&replaced("true ", "false"), None), Some(Fit::Withdrawn));
        // The word can be taken back, and not be given.
        let given = String::from_utf8(second).unwrap();
        let given = given.replacen("false", "true ", 1).into_bytes();
        assert_eq!(fit(&given, Some(one)), Some(Fit::Changed));
        for without in ["{}", "", r#"{"chain":"12"}"#] {
            assert_eq!(fit(without.as_bytes(), None), None, "{without}");
        }
    }

    #[test]
    fn a_line_with_its_digest_is_an_object_of_json() {
        let (line, digest) = tied(r#"{"task":"a/b"}"#, None);
        let read: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(read["chain"], digest.to_hex());
        assert_eq!(read["task"], "a/b");
    }
}
