//! Text as the agent sees it: with numbers before its lines, and cut where it is too long. Pure.

use std::fmt::Write;
use std::ops::Range;

/// How many lines are shown around a change.
const AROUND: usize = 4;

/// A part of a text, cut to what may be shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Bytes of the part that are not shown.
    pub(super) omitted: usize,
    /// The first line, from 1, that is not shown or not whole.
    pub(super) next: Option<usize>,
}

pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// At most so many bytes of a text, whole characters only.
pub(super) fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Numbers lines as `cat -n` does. `range` counts from 0.
pub(super) fn numbered(lines: &[&str], range: Range<usize>, most: usize) -> Shown {
    let mut shown = Shown {
        text: String::new(),
        omitted: 0,
        next: None,
    };
    for (number, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
        if shown.next.is_some() {
            shown.omitted += line.len();
            continue;
        }
        let before = shown.text.len();
        // Writing to a string does not fail.
        let _ = writeln!(
            shown.text,
            "{:6}\t{}",
            number + 1,
            line.trim_end_matches('\n')
        );
        if shown.text.len() > most {
            shown.next = Some(number + 1);
            // One line that alone is too long is shown in part.
            let keep = if before == 0 { most } else { before };
            let keep = shown.text.floor_char_boundary(keep);
            let prefix = shown.text.len() - before - line.trim_end_matches('\n').len() - 1;
            let of_line = keep.saturating_sub(before + prefix);
            shown.omitted += line.len().saturating_sub(of_line);
            shown.text.truncate(keep);
        }
    }
    shown
}

/// The lines of `new` that are not in `old`, from 0: everything between what both begin with and what
/// both end with.
pub(super) fn changed(old: &[&str], new: &[&str]) -> Range<usize> {
    let begin = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[begin..].iter().rev().zip(new[begin..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    begin..new.len() - end
}

/// The surroundings of a change.
pub(super) fn snippet(old: &str, new: &str, most: usize) -> String {
    let (old, new) = (lines(old), lines(new));
    let changed = changed(&old, &new);
    let range = changed.start.saturating_sub(AROUND)..changed.end.saturating_add(AROUND);
    let shown = numbered(&new, range, most);
    match shown.next {
        Some(next) => format!("{}\n[cut from line {next} on]\n", shown.text.trim_end()),
        None => shown.text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_numbered_as_cat_does() {
        let text = "one\n\ttwo\nthree";
        let shown = numbered(&lines(text), 0..9, 1000);
        assert_eq!(shown.text, "     1\tone\n     2\t\ttwo\n     3\tthree\n");
        assert_eq!((shown.omitted, shown.next), (0, None));
        let shown = numbered(&lines(text), 1..2, 1000);
        assert_eq!(shown.text, "     2\t\ttwo\n");
    }

    #[test]
    fn what_is_too_long_is_cut_at_a_line() {
        let shown = numbered(&["a\n", "bcd\n", "e\n"], 0..3, 12);
        assert_eq!(shown.text, "     1\ta\n");
        assert_eq!((shown.omitted, shown.next), (6, Some(2)));
        let shown = numbered(&["äöü\n"], 0..1, 10);
        assert_eq!(shown.text, "     1\tä");
        assert_eq!((shown.omitted, shown.next), (5, Some(1)));
    }

    #[test]
    fn a_snippet_shows_the_change_and_what_is_around() {
        let old: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("10\n", "ten\nand a half\n");
        let snippet = snippet(&old, &new, 1000);
        let shown: Vec<_> = snippet
            .lines()
            .map(|line| line.split_once('\t').unwrap().1)
            .collect();
        let expected = [
            "6",
            "7",
            "8",
            "9",
            "ten",
            "and a half",
            "11",
            "12",
            "13",
            "14",
        ];
        assert_eq!(shown, expected);
    }

    proptest! {
        #[test]
        fn a_change_is_never_outside_of_what_is_shown(
            old in "([ab]\n){0,8}", new in "([ab]\n){0,8}"
        ) {
            let (old, new) = (lines(&old), lines(&new));
            let range = changed(&old, &new);
            prop_assert!(range.start <= range.end && range.end <= new.len());
            let tail = new.len() - range.end;
            prop_assert_eq!(&old[..range.start], &new[..range.start]);
            prop_assert_eq!(&old[old.len() - tail..], &new[range.end..]);
        }

        #[test]
        fn no_more_is_shown_than_may_be(text in "(?s).{0,200}", most in 0_usize..100) {
            let lines = lines(&text);
            let shown = numbered(&lines, 0..usize::MAX, most);
            prop_assert!(shown.text.len() <= most);
            prop_assert_eq!(shown.omitted > 0 || shown.next.is_some(), shown.next.is_some());
            prop_assert!(shown.omitted <= text.len());
        }
    }
}
