//! Regular expressions of task files. The rows of a dataset have the same ones, so those that were read
//! last are kept: reading one takes longer than the rest of a task.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use regex::{Regex, RegexBuilder};

/// What the compiled form of one expression may take.
const SIZE: usize = 1 << 20;
const KEPT: usize = 64;

/// What an expression is for, and so how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// Looking at a text, as written.
    Test,
    /// Taking an answer out of what an agent says: `.` is any character, line ends too.
    Answer,
    /// Looking at what an agent says: the same, and letters are of either case.
    Heard,
}

static READ: LazyLock<Mutex<HashMap<(String, Use), Regex>>> = LazyLock::new(Mutex::default);

/// Why a text is no expression is one line.
pub(crate) fn compiled(text: &str, for_what: Use) -> Result<Regex, String> {
    let key = (text.to_owned(), for_what);
    if let Ok(read) = READ.lock()
        && let Some(regex) = read.get(&key)
    {
        return Ok(regex.clone());
    }
    let regex = RegexBuilder::new(text)
        .case_insensitive(for_what == Use::Heard)
        .dot_matches_new_line(for_what != Use::Test)
        .size_limit(SIZE)
        .build()
        .map_err(|error| {
            let full = error.to_string();
            let reason = full.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            format!("`{text}` is no regular expression: {reason}")
        })?;
    if let Ok(mut read) = READ.lock() {
        if read.len() >= KEPT {
            read.clear();
        }
        read.insert(key, regex.clone());
    }
    Ok(regex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_is_part_of_what_is_kept() {
        let matches = |text: &str, for_what| compiled("b.c", for_what).unwrap().is_match(text);
        for _ in 0..2 {
            assert_eq!(
                [Use::Test, Use::Answer, Use::Heard].map(|it| matches("b\nc", it)),
                [false, true, true]
            );
            assert_eq!(
                [Use::Test, Use::Answer, Use::Heard].map(|it| matches("B C", it)),
                [false, false, true]
            );
        }
        let error = compiled("(", Use::Test).unwrap_err();
        assert_eq!(error, "`(` is no regular expression: unclosed group");
        assert!(compiled(r"\w{3000}", Use::Test).is_err());
    }
}
