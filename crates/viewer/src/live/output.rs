//! The end of what a program printed, as a tile has room for it: a few short lines. It comes from programs of
//! others and is bounded here; what hides or turns round something is made visible where it is shown.

use std::borrow::Cow;

use serde::Deserialize;

const LINES: usize = 3;
/// Bytes of a line: with the breaks between them, three are never more than 400.
const LONGEST: usize = 132;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    observation: Seen<'a>,
}

#[derive(Deserialize)]
struct Seen<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

/// Of a line of a record that tells what was observed.
pub(super) fn end_of(line: &[u8]) -> String {
    let line = serde_json::from_slice::<Line<'_>>(line);
    line.map_or_else(|_| String::new(), |line| last_lines(&line.observation.text))
}

fn last_lines(text: &str) -> String {
    let written = text.lines().rev().map(shown);
    let mut lines: Vec<String> = written
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect();
    lines.reverse();
    lines.join("\n")
}

/// Of a line that was written over again and again, the last.
fn shown(line: &str) -> String {
    let last = line.trim_end().rsplit('\r').next().unwrap_or_default();
    if last.len() <= LONGEST {
        return last.to_owned();
    }
    let end = last.floor_char_boundary(LONGEST - '…'.len_utf8());
    format!("{}…", last.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_that_say_anything_are_kept() {
        assert_eq!(last_lines(""), "");
        assert_eq!(last_lines("one\n"), "one");
        assert_eq!(last_lines("a\nb\nc\n\n  d\n \n"), "b\nc\n  d");
        assert_eq!(last_lines("10 %\r20 %\rdone\r\nnext"), "done\nnext");
    }

    #[test]
    fn however_much_was_printed_it_is_short() {
        let long = "ü".repeat(100_000);
        let told = last_lines(&format!("{long}\n{long}\n{long}\n{long}"));
        assert!(told.len() <= 400, "{}", told.len());
        assert_eq!(told.lines().count(), 3);
        assert!(told.lines().all(|line| line.ends_with("ü…")), "{told}");
        let whole = "x".repeat(LONGEST);
        assert_eq!(last_lines(&whole), whole);
    }

    #[test]
    fn what_is_no_observation_says_nothing() {
        let told = br#"{"kind":"observation","observation":{"text":"a\nb \u001b[1m"}}"#;
        assert_eq!(end_of(told), "a\nb \u{1b}[1m");
        for broken in [
            "",
            "[1]",
            r#"{"observation":7}"#,
            r#"{"observation":{"text":7}}"#,
            r#"{"observation":{}}"#,
        ] {
            assert_eq!(end_of(broken.as_bytes()), "");
        }
    }
}
