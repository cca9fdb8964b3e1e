//! Long texts, cut in their middle: beginnings and ends say most.

use std::borrow::Cow;

/// At most `most` characters of the text, and a line that says how many are missing.
pub(super) fn middle(text: &str, most: usize) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let all = text.chars().count();
    if all <= most {
        return Cow::Borrowed(text);
    }
    let tail = most / 2;
    let head = most - tail;
    let start = at(text, head);
    let end = at(text, all - tail);
    let (before, after) = (
        text.get(..start).unwrap_or_default(),
        text.get(end..).unwrap_or_default(),
    );
    Cow::Owned(format!(
        "{before}\n[... {} characters left out ...]\n{after}",
        all - most
    ))
}

/// The byte at which a character begins.
fn at(text: &str, character: usize) -> usize {
    text.char_indices()
        .nth(character)
        .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stay_and_what_is_missing_is_counted() {
        assert_eq!(middle("äöü", 3), "äöü");
        assert_eq!(
            middle("abcdefghij", 5),
            "abc\n[... 5 characters left out ...]\nij"
        );
        assert_eq!(middle("äöüäöü", 1), "ä\n[... 5 characters left out ...]\n");
        assert_eq!(middle("ab", 0), "\n[... 2 characters left out ...]\n");
    }

    proptest::proptest! {
        #[test]
        fn no_more_is_kept_than_was_asked_for(text in "\\PC{0,80}", most in 0_usize..60) {
            let cut = middle(&text, most);
            let all = text.chars().count();
            if all <= most {
                proptest::prop_assert_eq!(cut, text.as_str());
            } else {
                let line = format!("\n[... {} characters left out ...]\n", all - most);
                let kept = cut.replacen(&line, "", 1);
                proptest::prop_assert_eq!(kept.chars().count(), most);
            }
        }
    }
}
