//! Why an answer was refused: what was expected, where, and what stood there.

use std::borrow::Cow;

use super::action::MAX_ACTIONS;
use super::cursor::{MAX_BYTES, MAX_DEPTH};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("the answer has {bytes} bytes, and at most {MAX_BYTES} are read")]
    TooLong { bytes: usize },
    #[error(
        "brackets open and break off too often in the answer: give the actions and nothing else"
    )]
    Tangled,
    #[error("the answer has more than {MAX_ACTIONS} actions")]
    TooMany,
    #[error("the answer ends inside of `<think>`: there is nothing but thoughts")]
    OnlyThoughts,
    /// `position` counts characters from 0.
    #[error("{why}, at character {position}: `{excerpt}`")]
    Refused {
        why: String,
        position: usize,
        excerpt: String,
    },
}

/// How much a refusal says: the more was understood before it, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A value that has nothing to do with what is sought.
    Other,
    /// Something that is no value.
    Broken,
    /// What is sought, with something wrong in it.
    Close,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) rank: Rank,
    pub(super) why: Cow<'static, str>,
    /// Bytes from the start.
    pub(super) at: usize,
}

impl Refusal {
    pub(super) fn broken(why: impl Into<Cow<'static, str>>, at: usize) -> Self {
        Self {
            rank: Rank::Broken,
            why: why.into(),
            at,
        }
    }

    pub(super) fn close(why: impl Into<Cow<'static, str>>, at: usize) -> Self {
        Self {
            rank: Rank::Close,
            why: why.into(),
            at,
        }
    }

    pub(super) fn deep(at: usize) -> Self {
        Self::broken(format!("more than {MAX_DEPTH} brackets are open"), at)
    }
}

/// The refusal that tells most, of many.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    told: Option<Refusal>,
    close: usize,
}

impl Refusals {
    /// Of two that say as much, the one further on; of two that came close, the first.
    pub(super) fn note(&mut self, refusal: Refusal) {
        self.close += usize::from(refusal.rank == Rank::Close);
        let better = self.told.as_ref().is_none_or(|known| {
            refusal.rank > known.rank
                || (refusal.rank == known.rank
                    && refusal.rank != Rank::Close
                    && refusal.at > known.at)
        });
        if better {
            self.told = Some(refusal);
        }
    }

    /// How many came close to what is sought.
    pub(super) fn close(&self) -> usize {
        self.close
    }

    /// As it is told: `text` is what `at` counts in.
    pub(super) fn into_error(self, text: &str, nothing: &'static str) -> ParseError {
        let refusal = self.told.unwrap_or(Refusal {
            rank: Rank::Other,
            why: nothing.into(),
            at: 0,
        });
        let before = text.get(..refusal.at).unwrap_or(text);
        ParseError::Refused {
            why: refusal.why.into_owned(),
            position: before.chars().count(),
            excerpt: excerpt(before, &text[before.len()..]),
        }
    }
}

/// Characters shown on either side.
const BEFORE: usize = 12;
const AFTER: usize = 28;

/// Some characters around a place, on one line.
fn excerpt(before: &str, after: &str) -> String {
    let start = before
        .char_indices()
        .rev()
        .nth(BEFORE - 1)
        .map_or(0, |(at, _)| at);
    let end = after
        .char_indices()
        .nth(AFTER)
        .map_or(after.len(), |(at, _)| at);
    let mut shown = String::new();
    if start > 0 {
        shown.push('…');
    }
    for letter in before[start..].chars().chain(after[..end].chars()) {
        if letter.is_control() {
            shown.push(' ');
        } else {
            shown.push(letter);
        }
    }
    if end < after.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        assert_eq!(excerpt("ab\n", "cd"), "ab cd");
        assert_eq!(excerpt("", ""), "");
        let long = "ä".repeat(100);
        let shown = excerpt(&long, &long);
        assert_eq!(shown.chars().count(), BEFORE + AFTER + 2);
    }

    #[test]
    fn the_refusal_that_tells_most_is_told() {
        let mut refusals = Refusals::default();
        refusals.note(Refusal::broken("one", 1));
        refusals.note(Refusal::broken("two", 2));
        refusals.note(Refusal::broken("back", 1));
        assert_eq!(refusals.told.as_ref().unwrap().why, "two");
        refusals.note(Refusal::close("first", 0));
        refusals.note(Refusal::close("second", 3));
        refusals.note(Refusal::broken("far", 9));
        let error = refusals.into_error("a{b", "nothing").to_string();
        assert_eq!(error, "first, at character 0: `a{b`");
    }

    #[test]
    fn positions_are_told_in_characters() {
        let mut refusals = Refusals::default();
        refusals.note(Refusal::broken("here", 4));
        let error = refusals.into_error("äöx", "");
        assert!(
            matches!(error, ParseError::Refused { position: 2, .. }),
            "{error}"
        );
    }
}
