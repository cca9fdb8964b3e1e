//! Keys pressed together (`ctrl+shift+t`), and such combinations one after the other
//! (`ctrl+a Delete`), as agents write them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Key;
use crate::error::DesktopError;

/// Keys of one combination.
pub const MOST_KEYS: usize = 8;

/// Combinations in one text.
pub const MOST_COMBINATIONS: usize = 128;

/// Bytes of a text with combinations.
pub const LONGEST_TEXT: usize = 4096;

/// Keys that go down one after the other and up in reverse. Never empty, none twice.
///
/// `+` joins keys, with or without blanks around it; where a key is expected it is the key itself
/// (`+`, `ctrl++`). `-` joins too if all before it are modifiers (`ctrl-c`, `C-c`). A letter among
/// other keys is the key, whatever its case: `CTRL+C` is `ctrl+c`, and Shift is held only if it is
/// there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KeyCombination(Vec<Key>);

impl KeyCombination {
    pub fn new(keys: Vec<Key>) -> Result<Self, DesktopError> {
        if keys.is_empty() {
            return Err(DesktopError::Invalid("no key is given".to_owned()));
        }
        if keys.len() > MOST_KEYS {
            return Err(DesktopError::Invalid(format!(
                "{} keys are to be pressed together: at most {MOST_KEYS} can be",
                keys.len()
            )));
        }
        let keys: Vec<Key> = if keys.len() > 1 {
            keys.into_iter().map(Key::lower).collect()
        } else {
            keys
        };
        for (at, key) in keys.iter().enumerate() {
            if keys[..at].contains(key) {
                return Err(DesktopError::Invalid(format!(
                    "{key} stands twice in a combination: a key can be pressed once"
                )));
            }
        }
        Ok(Self(keys))
    }

    pub fn keys(&self) -> &[Key] {
        &self.0
    }

    /// Combinations to be pressed one after the other, separated by blanks; at least one.
    pub fn sequence(text: &str) -> Result<Vec<Self>, DesktopError> {
        if text.len() > LONGEST_TEXT {
            return Err(DesktopError::Invalid(format!(
                "keys are given by {} bytes of text: at most {LONGEST_TEXT} are read; use `type` for text",
                text.len()
            )));
        }
        let blank = |text: &str| !text.is_empty() && text.chars().all(char::is_whitespace);
        // The character itself: what pyautogui's users press.
        let mut characters = text.chars();
        if let (Some(_), None) = (characters.next(), characters.next()) {
            return Ok(vec![Self::from(text.parse::<Key>()?)]);
        }
        let mut rest = text.trim_start();
        let mut all = Vec::new();
        while !rest.is_empty() {
            if all.len() == MOST_COMBINATIONS {
                return Err(DesktopError::Invalid(format!(
                    "more than {MOST_COMBINATIONS} combinations of keys: give them in several steps, or use `type` for text"
                )));
            }
            let (keys, left) = first(rest)?;
            all.push(Self::new(keys)?);
            rest = left;
        }
        if all.is_empty() {
            let what = if blank(text) {
                "only blanks are"
            } else {
                "no key is"
            };
            return Err(DesktopError::Invalid(format!("{what} given")));
        }
        Ok(all)
    }
}

/// The keys of the first combination, and what follows it.
fn first(text: &str) -> Result<(Vec<Key>, &str), DesktopError> {
    let mut keys = Vec::new();
    let mut rest = text;
    loop {
        let (word, left) = if rest.starts_with('+') {
            rest.split_at(1)
        } else {
            let end = rest.find(|c: char| c == '+' || c.is_whitespace());
            rest.split_at(end.unwrap_or(rest.len()))
        };
        if word.is_empty() {
            return Err(DesktopError::Invalid(format!(
                "`{}` ends where a key is expected: write ctrl++ for the key + itself",
                text.chars().take(40).collect::<String>()
            )));
        }
        keys.extend(joined_by_hyphens(word)?);
        rest = left.trim_start();
        match rest.strip_prefix('+') {
            Some(left) if keys.len() <= MOST_KEYS => rest = left.trim_start(),
            _ => return Ok((keys, rest)),
        }
    }
}

/// One key, or several as in `ctrl-c` where only one reading is possible.
fn joined_by_hyphens(word: &str) -> Result<Vec<Key>, DesktopError> {
    let error = match word.parse::<Key>() {
        Ok(key) => return Ok(vec![key]),
        Err(error) => error,
    };
    let mut keys = Vec::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('-').filter(|_| keys.len() < MOST_KEYS) {
        match modifier(before) {
            Some(key) if !after.is_empty() => keys.push(key),
            _ => return Err(error),
        }
        rest = after;
        if rest == "-" {
            break;
        }
    }
    // The error names the whole word: it may be one that nobody meant to be a combination.
    if keys.is_empty() {
        return Err(error);
    }
    keys.push(rest.parse().map_err(|_| error)?);
    Ok(keys)
}

fn modifier(word: &str) -> Option<Key> {
    match word {
        "C" => Some(Key::Control),
        "M" => Some(Key::Alt),
        "S" => Some(Key::Shift),
        _ => word.parse::<Key>().ok().filter(|key| key.is_modifier()),
    }
}

impl From<Key> for KeyCombination {
    fn from(key: Key) -> Self {
        Self(vec![key])
    }
}

impl FromStr for KeyCombination {
    type Err = DesktopError;

    fn from_str(text: &str) -> Result<Self, DesktopError> {
        let mut all = Self::sequence(text)?;
        match (all.pop(), all.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(DesktopError::Invalid(
                "several combinations of keys, where one is expected".to_owned(),
            )),
        }
    }
}

impl TryFrom<String> for KeyCombination {
    type Error = DesktopError;

    fn try_from(text: String) -> Result<Self, DesktopError> {
        text.parse()
    }
}

impl fmt::Display for KeyCombination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("+")?;
            }
            write!(f, "{key}")?;
        }
        Ok(())
    }
}

impl From<KeyCombination> for String {
    fn from(combination: KeyCombination) -> Self {
        combination.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> Vec<String> {
        KeyCombination::sequence(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn combinations_are_read_as_agents_write_them() {
        for (text, keys) in [
            ("ctrl+shift+t", "Control_L+Shift_L+t"),
            ("ctrl + c", "Control_L+c"),
            ("CTRL+C", "Control_L+c"),
            ("ctrl-c", "Control_L+c"),
            ("C-c", "Control_L+c"),
            ("ctrl-shift-t", "Control_L+Shift_L+t"),
            ("ctrl--", "Control_L+minus"),
            ("page-up", "Page_Up"),
            ("-", "minus"),
            ("+", "plus"),
            ("++a", "plus+a"),
            ("ctrl++", "Control_L+plus"),
            ("ctrl + +", "Control_L+plus"),
            ("ctrl+plus", "Control_L+plus"),
            ("alt+F4", "Alt_L+F4"),
            ("A", "A"),
            ("shift+A", "Shift_L+a"),
            (" ", "space"),
            ("\n", "Return"),
            (" Return ", "Return"),
            ("super", "Super_L"),
            ("ctrl+0x43", "Control_L+c"),
        ] {
            assert_eq!(written(text), [keys], "{text}");
        }
    }

    #[test]
    fn blanks_separate_combinations() {
        assert_eq!(written("ctrl+a Delete"), ["Control_L+a", "Delete"]);
        assert_eq!(written("a b  +c"), ["a", "b+c"]);
        assert_eq!(written("+ a"), ["plus", "a"]);
        assert_eq!(
            written("Down Down ctrl + c Return"),
            ["Down", "Down", "Control_L+c", "Return"]
        );
    }

    #[test]
    fn what_is_no_combination_is_refused() {
        for bad in [
            "",
            "  ",
            "ctrl+",
            "++",
            "ctrl+ctrl",
            "ctrl+nokey",
            "a-b",
            "ctrl-",
            "ctrl-nokey",
            "-a",
        ] {
            let error = KeyCombination::sequence(bad).unwrap_err();
            assert!(error.is_callers(), "{bad}: {error}");
        }
        assert!("a b".parse::<KeyCombination>().is_err());
    }

    #[test]
    fn numbers_of_keys_and_combinations_are_bounded() {
        KeyCombination::sequence(&"a ".repeat(MOST_COMBINATIONS)).unwrap();
        KeyCombination::sequence(&"a ".repeat(MOST_COMBINATIONS + 1)).unwrap_err();
        KeyCombination::sequence("a+b+c+d+e+f+g+h").unwrap();
        KeyCombination::sequence("a+b+c+d+e+f+g+h+i").unwrap_err();
        KeyCombination::sequence(&"+".repeat(LONGEST_TEXT)).unwrap_err();
        KeyCombination::sequence(&"ctrl-".repeat(500)).unwrap_err();
        KeyCombination::sequence(&"a".repeat(LONGEST_TEXT + 1)).unwrap_err();
    }

    #[test]
    fn json_is_the_text() {
        let read: KeyCombination = serde_json::from_str("\"ctrl+s\"").unwrap();
        assert_eq!(read.keys(), [Key::Control, Key::from_char('s').unwrap()]);
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"Control_L+s\"");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "([a-c+ -]|ctrl|Shift|F1|\\PC){0,40}") {
            if let Ok(all) = KeyCombination::sequence(&text) {
                for one in all {
                    prop_assert_eq!(one.to_string().parse::<KeyCombination>().unwrap(), one);
                }
            }
        }
    }
}
