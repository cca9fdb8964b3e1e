//! The difference between two texts in unified form. Pure, and bounded in time: what differs too much
//! to be compared line by line is one block.

use std::fmt::Write;

use similar::TextDiff;

use super::view::{changed, head, lines};

/// Lines of context.
const CONTEXT: usize = 3;

/// Lines that may be compared; the time grows with the square.
const COMPARED: usize = 4000;

/// How a text is named in the first two lines; `None` where there is no file.
pub(super) struct Sides<'a> {
    pub(super) old: Option<&'a str>,
    pub(super) new: Option<&'a str>,
}

/// At most `most` bytes of the difference, with a line in place of the rest.
pub(super) fn unified(sides: &Sides<'_>, old: &str, new: &str, most: usize) -> String {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let range = changed(&old_lines, &new_lines);
    let removed = old_lines.len() - (new_lines.len() - range.len());
    if removed == 0 && range.is_empty() {
        return String::new();
    }
    let mut diff = String::new();
    for (mark, side, name) in [("---", "a", sides.old), ("+++", "b", sides.new)] {
        // Writing to a string does not fail.
        let _ = match name {
            Some(name) => writeln!(diff, "{mark} {side}{}{name}", slash(name)),
            None => writeln!(diff, "{mark} /dev/null"),
        };
    }
    if removed + range.len() <= COMPARED {
        let compared = TextDiff::configure().diff_slices(&old_lines, &new_lines);
        for hunk in compared.unified_diff().context_radius(CONTEXT).iter_hunks() {
            let _ = writeln!(diff, "{}", hunk.header());
            for change in hunk.iter_changes() {
                push(&mut diff, &change.tag().to_string(), change.value());
            }
        }
    } else {
        let before = range.start.saturating_sub(CONTEXT);
        let after = (range.end + CONTEXT).min(new_lines.len());
        let kept = after - before - range.len();
        let _ = writeln!(
            diff,
            "@@ -{},{} +{},{} @@",
            before + 1,
            kept + removed,
            before + 1,
            after - before
        );
        let old_range = range.start..range.start + removed;
        let parts = [
            (" ", &new_lines[before..range.start]),
            ("-", &old_lines[old_range]),
            ("+", &new_lines[range.clone()]),
            (" ", &new_lines[range.end..after]),
        ];
        for (tag, lines) in parts {
            for line in lines {
                push(&mut diff, tag, line);
            }
        }
    }
    cut(diff, most)
}

fn slash(name: &str) -> &'static str {
    if name.starts_with('/') { "" } else { "/" }
}

fn push(diff: &mut String, tag: &str, line: &str) {
    diff.push_str(tag);
    diff.push_str(line);
    if !line.ends_with('\n') {
        diff.push_str("\n\\ No newline at end of file\n");
    }
}

fn cut(diff: String, most: usize) -> String {
    if diff.len() <= most {
        return diff;
    }
    let kept = head(&diff, most);
    let kept = kept.rfind('\n').map_or("", |end| &kept[..=end]);
    format!(
        "{kept}[... {} bytes left out ...]\n",
        diff.len() - kept.len()
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HERE: Sides<'static> = Sides {
        old: Some("/work/a"),
        new: Some("/work/a"),
    };

    /// Applies a difference as `patch` would.
    fn patched(old: &str, diff: &str) -> String {
        let old = lines(old);
        let (mut new, mut at) = (String::new(), 0);
        for line in diff.lines().skip(2) {
            if let Some(header) = line.strip_prefix("@@ -") {
                let (start, count) = header
                    .split_once(' ')
                    .unwrap()
                    .0
                    .split_once(',')
                    .map_or_else(
                        || (header.split_once(' ').unwrap().0, "1"),
                        |(start, count)| (start, count),
                    );
                let start: usize = start.parse().unwrap();
                let start = if count == "0" { start } else { start - 1 };
                new.extend(old[at..start].iter().copied());
                at = start;
            } else if line.starts_with('\\') {
                new.pop();
            } else {
                let (tag, text) = line.split_at(1);
                match tag {
                    " " | "-" => {
                        assert_eq!(old[at].trim_end_matches('\n'), text);
                        at += 1;
                        if tag == " " {
                            new += text;
                            new.push('\n');
                        }
                    }
                    _ => {
                        new += text;
                        new.push('\n');
                    }
                }
            }
        }
        new.extend(old[at..].iter().copied());
        new
    }

    #[test]
    fn a_difference_is_what_people_know() {
        let diff = unified(&HERE, "a\nb\nc\n", "a\nB\nc\n", 1000);
        assert_eq!(
            diff,
            "--- a/work/a\n+++ b/work/a\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
        );
        let made = Sides {
            old: None,
            new: Some("/work/a"),
        };
        let diff = unified(&made, "", "x", 1000);
        assert_eq!(
            diff,
            "--- /dev/null\n+++ b/work/a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        );
        assert_eq!(unified(&HERE, "same\n", "same\n", 1000), "");
    }

    #[test]
    fn large_differences_are_one_block_and_cut() {
        let text = |word: &str, count: usize| -> String {
            (0..count)
                .map(|number| format!("{word} {number}\n"))
                .collect()
        };
        let old = format!("same\n{}", text("old", 3000));
        let new = format!("same\n{}", text("new", 3000));
        let diff = unified(&HERE, &old, &new, usize::MAX);
        assert_eq!(patched(&old, &diff), new);
        let short = unified(&HERE, &old, &new, 300);
        let (kept, note) = short.split_once("[...").unwrap();
        assert!(kept.len() <= 300 && diff.starts_with(kept), "{short}");
        assert!(note.contains("bytes left out"), "{note}");
    }

    proptest! {
        #[test]
        fn what_changed_can_be_made_from_it(
            old in "([abc]\n){0,12}", new in "([abc]\n){0,12}", torn in any::<bool>()
        ) {
            let new = if torn { new.trim_end().to_owned() } else { new };
            let diff = unified(&HERE, &old, &new, usize::MAX);
            if old == new {
                prop_assert_eq!(diff, "");
            } else if !old.is_empty() && new.ends_with('\n') {
                prop_assert_eq!(patched(&old, &diff), new);
            }
        }
    }
}
