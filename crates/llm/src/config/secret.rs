//! Values that nobody may see: keys, and the placeholders that examples put in their place.

use std::collections::BTreeMap;
use std::fmt;

use crate::key::Key;

/// What stands where a key belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    Key(Key),
    /// `XXX`, `sk-XXX`, `your-api-key`: an example that was never filled in.
    Placeholder,
}

impl Secret {
    /// `None` for an empty text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            None
        } else if is_placeholder(text) {
            Some(Self::Placeholder)
        } else {
            Some(Self::Key(Key::new(text)))
        }
    }

    pub const fn key(&self) -> Option<&Key> {
        match self {
            Self::Key(key) => Some(key),
            Self::Placeholder => None,
        }
    }
}

fn is_placeholder(text: &str) -> bool {
    let text = text.to_lowercase();
    let body = ["sk-ant-", "sk-proj-", "sk-or-v1-", "sk-or-", "sk-"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(&text);
    let blank = |c: char| matches!(c, 'x' | '*' | '.' | '-' | '_' | '…');
    body.chars().all(blank)
        || ["your-", "your_", "your ", "<", "${", "changeme", "replace-"]
            .iter()
            .any(|start| body.starts_with(start))
        || ["key-here", "key_here", "key here"]
            .iter()
            .any(|end| body.ends_with(end))
}

/// A table whose values may be keys, such as headers or variables for a sandbox.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Confidential(BTreeMap<String, String>);

impl Confidential {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    pub(super) fn insert(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }
}

impl FromIterator<(String, String)> for Confidential {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_keys() {
        for text in [
            "XXX",
            "sk-XXX",
            "sk-xxxx",
            "sk-ant-...",
            "your-api-key",
            "YOUR_API_KEY",
            "<key>",
            "***",
            "sk-",
            "your key",
            "sk-your-key",
            "${OPENAI_API_KEY}",
            "put_your_key_here",
            "changeme",
        ] {
            assert_eq!(Secret::read(text), Some(Secret::Placeholder), "{text}");
        }
        for text in [
            "EMPTY",
            "dummy",
            "sk-ant-api03-abc",
            "AIzaSyA",
            "x1",
            "yourself-9",
        ] {
            assert!(matches!(Secret::read(text), Some(Secret::Key(_))), "{text}");
        }
        assert_eq!(Secret::read("  "), None);
    }

    #[test]
    fn values_do_not_print() {
        let table: Confidential = [("TOKEN".to_owned(), "hush-hush".to_owned())]
            .into_iter()
            .collect();
        assert_eq!(format!("{table:?}"), r#"{"TOKEN"}"#);
    }
}
