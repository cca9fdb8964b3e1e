//! The nearest known name for a slip of the pen.

/// Longer words are not looked at: nobody mistypes a page.
const LONGEST: usize = 100;

pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&word, &name.to_lowercase()),
                name,
            )
        })
        .min()
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .map(|(_, name)| name.to_owned())
}

/// `, did you mean `x`?`, or nothing.
pub(super) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["model", "api_key", "base_url"];
        assert_eq!(nearest("modle", known).as_deref(), Some("model"));
        assert_eq!(nearest("API_KEY", known).as_deref(), Some("api_key"));
        assert_eq!(nearest("apikey", known).as_deref(), Some("api_key"));
        assert_eq!(nearest("banana", known), None);
        assert_eq!(nearest(&"x".repeat(10_000), known), None);
    }
}
