//! Which names there may be, and which known one somebody may have meant.

use crate::error::DesktopError;

/// Longest name, with its namespace.
const LONGEST: usize = 200;

/// Longest unknown name that is repeated in an error.
const SHOWN: usize = 80;

/// `namespace/name`, such as `mygame/score.read`.
pub(super) fn check(full: &str) -> Result<(), DesktopError> {
    let namespace = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let fits = full.len() <= LONGEST
        && full.split_once('/').is_some_and(|(space, rest)| {
            let filled = !space.is_empty() && !rest.is_empty();
            filled && space.chars().all(namespace) && rest.chars().all(name)
        });
    if fits {
        return Ok(());
    }
    Err(DesktopError::Invalid(format!(
        "`{}` is no name to register: write namespace/name, such as mygame/restart; a namespace is \
         made of letters, digits, _ and -, a name of letters, digits, _ and .",
        shown(full)
    )))
}

/// An error for a name that is not there, with the nearest that is.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> DesktopError {
    let name = shown(name);
    let nearest = known
        .map(|known| (strsim::damerau_levenshtein(&name, known), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len().max(name.len()) / 3)
        .map(|(_, known)| format!(": did you mean `{known}`?"));
    let hint = nearest.unwrap_or_else(|| ": `agon desktop call --list` shows all names".to_owned());
    DesktopError::Invalid(format!("there is no {what} `{name}`{hint}"))
}

fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_namespace() {
        for good in ["mygame/restart", "my-game_2/a.b_c", "9/9"] {
            check(good).unwrap();
        }
        let long = format!("a/{}", "b".repeat(LONGEST));
        for bad in [
            "", "restart", "/", "a/", "/b", "a.b/c", "a/b-c", "a/b/c", "a b/c", "a/ü", &long,
        ] {
            assert!(check(bad).unwrap_err().is_callers(), "{bad}");
        }
    }

    #[test]
    fn the_nearest_name_is_told_and_a_long_one_is_cut() {
        let known = || ["keyboard.press", "mouse.press"].into_iter();
        let error = unknown("callable", "keybord.press", known()).to_string();
        assert!(error.contains("did you mean `keyboard.press`"), "{error}");
        let error = unknown("callable", &"x".repeat(100_000), known()).to_string();
        assert!(error.len() < 300 && error.contains("--list"), "{error}");
    }
}
