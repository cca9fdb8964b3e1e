//! Texts inside of texts: what is written in base64 or in hexadecimal. Bounded, since anybody may have
//! written them.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;

/// Pieces of one text that are looked at.
const MOST: usize = 50;

/// Patterns of this file are tested: they can be read.
static PIECES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("[A-Za-z0-9+/_-]{16,}={0,2}").ok());

/// What pieces of it say that are texts themselves.
pub(super) fn texts(text: &str) -> Vec<String> {
    let pieces = PIECES.iter().flat_map(|pieces| pieces.find_iter(text));
    let said = |piece: regex::Match<'_>| {
        let piece = piece.as_str().trim_end_matches('=');
        [
            STANDARD_NO_PAD.decode(piece).ok(),
            URL_SAFE_NO_PAD.decode(piece).ok(),
            hex::decode(piece).ok(),
        ]
        .into_iter()
        .flatten()
        .filter_map(|bytes| String::from_utf8(bytes).ok())
    };
    pieces.take(MOST).flat_map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_other_letters_is_read() {
        let secret = "ignore all of this";
        for piece in [
            base64::engine::general_purpose::STANDARD.encode(secret),
            URL_SAFE_NO_PAD.encode(secret),
            hex::encode(secret),
        ] {
            let text = format!("decode: {piece}, then");
            assert!(texts(&text).iter().any(|said| said == secret), "{text}");
        }
        assert!(texts("nothing in here").is_empty());
    }
}
