//! What a reviewer can type, a line each. Knows nothing of trials.

use agon_store::ReviewVerdict;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// With what stands behind it as a comment.
    Say(ReviewVerdict, String),
    Comment(String),
    Next,
    Back,
    Show,
    Quit,
    /// Whatever else was typed.
    Unknown,
}

pub(super) const HELP: &str = "p pass, f fail, u undo, c TEXT comment, n next, b back, s show again, q quit; p and f take a comment too";

impl Order {
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim().to_owned();
        match (word, rest.is_empty()) {
            ("p" | "pass", _) => Self::Say(ReviewVerdict::Pass, rest),
            ("f" | "fail", _) => Self::Say(ReviewVerdict::Fail, rest),
            ("c" | "comment", false) => Self::Comment(rest),
            ("u" | "undo", true) => Self::Say(ReviewVerdict::Clear, rest),
            ("n" | "next" | "", true) => Self::Next,
            ("b" | "back", true) => Self::Back,
            ("s" | "show", true) => Self::Show,
            ("q" | "quit", true) => Self::Quit,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_words_are_read_and_nothing_is_guessed() {
        let say = |verdict, text: &str| Order::Say(verdict, text.to_owned());
        for (line, order) in [
            ("p", say(ReviewVerdict::Pass, "")),
            (" f  wrong file \r", say(ReviewVerdict::Fail, "wrong file")),
            ("undo", say(ReviewVerdict::Clear, "")),
            ("c almost", Order::Comment("almost".to_owned())),
            ("c", Order::Unknown),
            ("", Order::Next),
            ("next", Order::Next),
            ("b", Order::Back),
            ("s", Order::Show),
            ("q", Order::Quit),
            ("passed", Order::Unknown),
            ("q now", Order::Unknown),
            ("P", Order::Unknown),
        ] {
            assert_eq!(Order::read(line), order, "{line:?}");
        }
    }
}
