//! `.env` files: lines of `KEY=VALUE`, with `export`, quotes and comments. Nothing is expanded or run. A
//! line that is none of these is left out with a warning that does not quote it.

use super::environment::Environment;

/// Larger files are no settings.
pub(super) const MOST_BYTES: usize = 256 << 10;
const MOST_VARIABLES: usize = 2_000;

pub(super) fn parse(text: &str) -> (Environment, Vec<String>) {
    let mut pairs = Vec::new();
    let mut warnings = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match pair(line) {
            _ if pairs.len() == MOST_VARIABLES => {
                warnings.push(format!(".env: only {MOST_VARIABLES} variables are read"));
                break;
            }
            Some(pair) => pairs.push(pair),
            None => warnings.push(format!(
                ".env:{}: this line is left out, since it is no KEY=VALUE",
                number + 1
            )),
        }
    }
    (pairs.into_iter().collect(), warnings)
}

fn pair(line: &str) -> Option<(String, String)> {
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(word)
    {
        return None;
    }
    Some((name.to_owned(), value_of(value.trim())?))
}

/// Without quotes, a comment begins at ` #`.
fn value_of(text: &str) -> Option<String> {
    match text.chars().next() {
        Some('\'') => {
            let (value, rest) = text.get(1..)?.split_once('\'')?;
            nothing_but_a_comment(rest).then(|| value.to_owned())
        }
        Some('"') => double_quoted(text.get(1..)?),
        Some('#') | None => Some(String::new()),
        Some(_) => {
            let bare = [" #", "\t#"]
                .iter()
                .filter_map(|mark| text.find(mark))
                .min();
            Some(
                text.get(..bare.unwrap_or(text.len()))?
                    .trim_end()
                    .to_owned(),
            )
        }
    }
}

fn double_quoted(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return nothing_but_a_comment(chars.as_str()).then_some(value),
            '\\' => match chars.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
}

fn nothing_but_a_comment(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(text: &str, name: &str) -> Option<String> {
        parse(text).0.get(name).map(str::to_owned)
    }

    #[test]
    fn the_usual_forms_are_read() {
        for (text, value) in [
            ("A=b", "b"),
            ("export A=b", "b"),
            ("A = b # why", "b"),
            ("A='b # c'", "b # c"),
            ("A=\"b \\\"c\\\" \\n\" # d", "b \"c\" \n"),
            ("A=b#c", "b#c"),
            ("A=b=c", "b=c"),
            ("# no\n\nA=b\r\n", "b"),
            ("A=x\nA=b", "b"),
            ("\u{feff}A=b", "b"),
            ("exported=1\nA=b", "b"),
            ("A=$HOME `id`", "$HOME `id`"),
        ] {
            assert_eq!(get(text, "A").as_deref(), Some(value), "{text}");
        }
        assert_eq!(get("A=", "A"), None);
        assert_eq!(get("A=# none", "A"), None);
    }

    #[test]
    fn other_lines_are_named_by_their_number_alone() {
        for text in [
            "\nsk-secret-key",
            "\n=sk-secret",
            "\n1A=b",
            "\nA B=c",
            "\nA='b",
            "\nA=\"b\" c",
        ] {
            let (environment, warnings) = parse(text);
            assert_eq!(environment, Environment::default(), "{text}");
            assert_eq!(warnings.len(), 1, "{text}");
            assert!(warnings[0].starts_with(".env:2: "), "{warnings:?}");
            assert!(!warnings[0].contains("secret"), "{warnings:?}");
        }
    }

    #[test]
    fn there_is_an_end_to_it() {
        let text: String = (0..5_000).map(|n| format!("A{n}=b\n")).collect();
        let (environment, warnings) = parse(&text);
        assert_eq!(environment.get("A1999"), Some("b"));
        assert_eq!(environment.get("A2000"), None);
        assert_eq!(warnings.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_much(text in "\\PC*|[A-C='\"\\\\#\n\t a]*") {
            parse(&text);
        }

        #[test]
        fn what_is_quoted_comes_back(value in "\\PC*") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("A=\"{quoted}\"\n");
            let found = get(&text, "A").unwrap_or_default();
            proptest::prop_assert_eq!(found, value);
        }
    }
}
