//! What went wrong at which place of a source text, and what was probably meant.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::node::Span;

/// An error in a source text. The innermost place is kept as the error travels outwards.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) span: Option<Span>,
    /// The key that the error is about, for places found by name.
    pub(crate) key: Option<String>,
}

impl NodeError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            span: None,
            key: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Places the error, unless something further in did so already.
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NodeError {}

impl Error for NodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", named(&found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let mut error = unknown("key", field, expected);
        error.key = Some(field.to_owned());
        error
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        unknown("value", variant, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` is missing"))
    }
}

fn named(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("the text `{text}`"),
        Unexpected::Unsigned(n) => format!("the number {n}"),
        Unexpected::Signed(n) => format!("the number {n}"),
        Unexpected::Float(n) => format!("the number {n}"),
        Unexpected::Bool(b) => format!("{b}"),
        Unexpected::Unit => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "keys and values".to_owned(),
        other => other.to_string(),
    }
}

/// "unknown key `chekcs`, did you mean `checks`?" with the known ones as help.
fn unknown(what: &str, found: &str, known: &[&str]) -> NodeError {
    let message = match nearest(found, known.iter().copied()) {
        Some(near) => format!("unknown {what} `{found}`, did you mean `{near}`?"),
        None => format!("unknown {what} `{found}`"),
    };
    let error = NodeError::new(message);
    if known.is_empty() {
        error
    } else {
        error.help(format!("known: {}", known.join(", ")))
    }
}

/// The known name that was probably meant, if one is near enough.
pub(crate) fn nearest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let found = found.to_lowercase();
    known
        .map(|name| (strsim::damerau_levenshtein(&found, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(found.len()).max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let known = ["checks", "name", "tags"];
        assert_eq!(nearest("chekcs", known.into_iter()), Some("checks"));
        assert_eq!(nearest("tag", known.into_iter()), Some("tags"));
        assert_eq!(nearest("Name", known.into_iter()), Some("name"));
        assert_eq!(nearest("colour", known.into_iter()), None);
    }
}
