//! The suites of a run in words.

use crate::visible::plain;

/// Each of them once: a run of single tasks has a suite for each.
pub(super) fn suites<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(&&**name) {
            once.push(name);
        }
    }
    plain(&once.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named_once_and_as_it_is() {
        let names = ["desktop", "web\u{202e}", "desktop", "web"].map(str::to_owned);
        assert_eq!(suites(&names), "desktop, web<202E>, web");
        assert_eq!(suites(&[]), "");
    }
}
