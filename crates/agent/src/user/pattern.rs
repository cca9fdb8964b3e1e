//! Regular expressions of task files, which may ask for anything: bounded in size. They are matched in
//! time that grows with the text alone, whatever they say.

use regex::{Regex, RegexBuilder};

use super::contract::UserError;

/// Of a compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    EitherCase,
    AsWritten,
}

/// `what` names the expression in the error.
pub(super) fn compile(what: &str, pattern: &str, letters: Letters) -> Result<Regex, UserError> {
    RegexBuilder::new(pattern)
        .case_insensitive(letters == Letters::EitherCase)
        .dot_matches_new_line(true)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST)
        .build()
        .map_err(|error| {
            let text = format!("{what} is no regular expression that can be used: {error}");
            UserError::Setup(text)
        })
}
