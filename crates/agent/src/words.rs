//! Command lines as lists of words, by the quoting rules of a POSIX shell and nothing else of it:
//! no variables, no globs, no substitution.

/// Splits a command line. Blanks part words; `'...'` keeps everything; `"..."` keeps everything but
/// `\"` and `\\`; a backslash outside of quotes keeps the next character.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // `None` between words: an empty pair of quotes is a word, too.
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err("a single quote is not closed".to_owned()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some(c @ ('"' | '\\')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                            None => return Err("a double quote is not closed".to_owned()),
                        },
                        Some(c) => word.push(c),
                        None => return Err("a double quote is not closed".to_owned()),
                    }
                }
            }
            '\\' => match chars.next() {
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err("a backslash ends the command".to_owned()),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Splits a command and makes sure that there is a program in it.
pub(crate) fn command(argument: &str) -> Result<Vec<String>, String> {
    let words = split(argument)?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("name the program to run, as in `cmd:python3 agent.py`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quoted(word: &str) -> String {
        format!("'{}'", word.replace('\'', r"'\''"))
    }

    #[test]
    fn words_as_a_shell_would_split_them() {
        for (line, words) in [
            ("python3 agent.py", vec!["python3", "agent.py"]),
            ("  a \t b\n", vec!["a", "b"]),
            (
                r#"a "b c" 'd "e"' f\ g"#,
                vec!["a", "b c", r#"d "e""#, "f g"],
            ),
            (r#"x"y"'z' "" ''"#, vec!["xyz", "", ""]),
            (r#""\" \\ \n $HOME""#, vec![r#"" \ \n $HOME"#]),
            ("", vec![]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for line in ["'a", "\"a", "a\\", "\"a\\"] {
            assert!(split(line).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec(".*", 0..6)) {
            let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            prop_assert_eq!(split(&line.join(" ")).unwrap(), words);
        }

        #[test]
        fn any_text_splits_or_is_refused(line in r#"[ab'"\\ ]{0,40}"#) {
            if let Ok(words) = split(&line) {
                prop_assert!(words.iter().map(String::len).sum::<usize>() <= line.len());
            }
        }
    }
}
