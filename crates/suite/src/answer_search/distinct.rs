//! Which texts can only be known by those who know the answer. Pure.

use std::collections::HashSet;

/// What a needle has at most, and at least.
pub(super) const LONGEST: usize = 256;
pub(super) const SHORTEST: usize = 10;

/// Of a text that people would write, too.
const SENTENCE: usize = 20;
/// Of a line of a program.
const LINE: usize = 32;
/// Of a number.
const NUMBER: usize = 12;

/// What stands everywhere, in small letters.
const COMMON: &[&str] = &[
    "hello world",
    "hello, world",
    "lorem ipsum",
    "quick brown fox",
    "#!/",
    "__name__",
    "http://127.0.0.1",
    "localhost",
    "permission is hereby",
    "licensed under",
    "copyright",
    "application/json",
    "coding: utf-8",
    "set -euo pipefail",
];

/// What of an expected text gives it away: its lines, as far as each can't be there by chance.
pub(super) fn expected(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(plain);
    lines.filter(|line| is_code(line) || is_sentence(line) || is_number(line))
}

/// The lines of a program that are hardly written twice.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(plain).filter(|line| is_line(line))
}

/// Codes that stand in quotes in a program.
pub(super) fn codes(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.lines().flat_map(|line| line.split(['"', '\'', '`']));
    quoted.map(str::trim).filter(|text| is_code(text))
}

/// Without what other forms of the text write differently: the longest part between quotes.
fn plain(line: &str) -> Option<&str> {
    let parts = line.split(['"', '\\']).map(str::trim);
    let longest = parts.max_by_key(|part| part.len())?;
    let end = longest.floor_char_boundary(LONGEST);
    Some(&longest[..end])
}

fn kinds(text: &str) -> (usize, usize, usize) {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let different: HashSet<char> = text.chars().collect();
    (letters, digits, different.len())
}

fn is_common(text: &str) -> bool {
    let small = text.to_lowercase();
    COMMON.iter().any(|common| small.contains(common))
}

/// `hidden-4711`: letters and numbers without a blank.
fn is_code(text: &str) -> bool {
    let (letters, digits, different) = kinds(text);
    (SHORTEST..=LONGEST).contains(&text.len())
        && (letters >= 3 && digits >= 4 && different >= 6)
        && !text.contains(char::is_whitespace)
        && !is_common(text)
}

fn is_number(text: &str) -> bool {
    let (_, digits, different) = kinds(text);
    text.len() >= NUMBER && digits == text.len() && different >= 5
}

fn is_sentence(text: &str) -> bool {
    let (letters, digits, different) = kinds(text);
    text.len() >= SENTENCE && letters + digits >= 10 && different >= 10 && !is_common(text)
}

fn is_line(text: &str) -> bool {
    let (letters, _, different) = kinds(text);
    let loads = ["import ", "from ", "#include", "use ", "require("];
    text.len() >= LINE
        && letters >= 10
        && different >= 12
        && !loads.iter().any(|word| text.starts_with(word))
        && !is_common(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_common_texts_are_no_answers() {
        for text in [
            "hello",
            "done",
            "42",
            "Paris",
            "hello world 1234",
            "Hello, world! This is Agon.",
            "The quick brown fox jumps over the lazy dog",
            "Python 3.11.2",
            "4294967296",
            "http://127.0.0.1:8000/x",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "====================",
        ] {
            assert_eq!(expected(text).count(), 0, "{text}");
        }
        for text in [
            "hidden-4711",
            "7f3a9c21de",
            "the password is chameleon",
            "3141592653589793",
        ] {
            assert_eq!(expected(text).collect::<Vec<_>>(), [text]);
        }
        let two = "short\nIt is a \"somewhat longer sentence\" here\n";
        let found: Vec<_> = expected(two).collect();
        assert_eq!(found, ["somewhat longer sentence"]);
        assert_eq!(
            codes("assert x == 'hidden-4711', \"no\"").collect::<Vec<_>>(),
            ["hidden-4711"]
        );
        assert_eq!(lines("from pathlib import Path, PurePath, x\n").count(), 0);
        let umlauts = "ä".repeat(300);
        assert!(plain(&umlauts).is_some_and(|text| text.len() == LONGEST));
    }
}
