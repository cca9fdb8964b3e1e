//! Names of tasks from what datasets call their rows.

use agon_core::Digest;
use agon_core::id::check_name;
use serde_json::Value;

const LONGEST: usize = 100;

/// A name that is safe as a folder's; the same text gives the same name.
pub(super) fn safe(text: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut name: String = text
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if name.len() > LONGEST {
        let digest = Digest::of(text.as_bytes()).short();
        let end = name.floor_char_boundary(LONGEST - digest.len() - 1);
        name.truncate(end);
        name = format!("{name}-{digest}");
    }
    match check_name(&name) {
        Ok(()) => name,
        Err(_) => "_".to_owned(),
    }
}

/// The text of a field that names something.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_readable() {
        assert_eq!(safe("django__django-11099"), "django__django-11099");
        assert_eq!(safe("owner/repo 1"), "owner_repo_1");
        assert_eq!(safe("..x"), "_.x");
        assert_eq!(safe(""), "_");
        let long = "ß".repeat(80);
        assert_ne!(safe(&long), safe(&format!("{long}a")));
    }

    proptest::proptest! {
        #[test]
        fn every_name_is_safe(text in "\\PC{0,120}") {
            proptest::prop_assert!(check_name(&safe(&text)).is_ok());
        }
    }
}
