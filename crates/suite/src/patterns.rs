//! Regular expressions of task files. The rows of a dataset have the same ones, so those that were read
//! last are kept: reading one takes longer than the rest of a task.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use regex::{Regex, RegexBuilder};

/// What the compiled form of one expression may take.
const SIZE: usize = 4 << 20;
const KEPT: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Letters {
    AsWritten,
    /// Upper and lower case are the same.
    OfEitherCase,
}

static READ: LazyLock<Mutex<HashMap<(String, Letters), Regex>>> = LazyLock::new(Mutex::default);

/// Why a text is no expression is one line.
pub(crate) fn compiled(text: &str, letters: Letters) -> Result<Regex, String> {
    let key = (text.to_owned(), letters);
    if let Ok(read) = READ.lock()
        && let Some(regex) = read.get(&key)
    {
        return Ok(regex.clone());
    }
    let regex = RegexBuilder::new(text)
        .case_insensitive(letters == Letters::OfEitherCase)
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
    fn case_is_part_of_what_is_kept() {
        let matches = |letters| compiled("abc", letters).unwrap().is_match("ABC");
        for _ in 0..2 {
            assert!(!matches(Letters::AsWritten));
            assert!(matches(Letters::OfEitherCase));
        }
        let error = compiled("(", Letters::AsWritten).unwrap_err();
        assert_eq!(error, "`(` is no regular expression: unclosed group");
        assert!(compiled(r"\w{3000}", Letters::AsWritten).is_err());
    }
}
