//! Files of short lines that several processes append to at once, such as reviews: nothing of them is
//! lost, and what a crash or a stranger left in them stops nobody. Knows nothing of what the lines say.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;

use crate::lines;
use crate::plain_file::{append_plain, open_at_most};

/// Characters of a person's name that are kept.
pub(crate) const LONGEST_NAME: usize = 100;
/// A line longer than this is not one of ours.
pub(crate) const LONGEST_LINE: u64 = 1 << 17;
/// A file larger than this is not one of ours.
const LARGEST: u64 = 1 << 30;

/// Appends a line in one write, which others' can't cut in two, and has it on disk. After a torn line it
/// begins a line of its own.
pub(crate) fn append(path: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut file = append_plain(path)?;
    // Two at once may both see a line as torn: then an empty line is added, which says nothing.
    let mut bytes = if is_torn(&mut file)? {
        vec![b'\n']
    } else {
        Vec::new()
    };
    serde_json::to_writer(&mut bytes, line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.sync_data()
}

fn is_torn(file: &mut File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    Ok(!begins_a_line(file, length)?)
}

/// Whether a line could begin at a place that is not behind the end.
fn begins_a_line(file: &mut File, at: u64) -> io::Result<bool> {
    let Some(before) = at.checked_sub(1) else {
        return Ok(true);
    };
    let mut last = [0];
    file.seek(SeekFrom::Start(before))?;
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

/// Without control characters but those that lay out a text, and no longer than `most` characters.
pub(crate) fn clean(text: &str, most: usize) -> String {
    let seen = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(seen).take(most).collect()
}

/// One line of what can be seen: a name that is shown beside others must not pass for one of them, or turn
/// the text around it.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let unseen = |c: &char| {
        (c.is_control() && !c.is_whitespace())
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let seen: String = text.chars().filter(|c| !unseen(c)).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    words.join(" ").chars().take(most).collect()
}

/// `None`: there is no such file.
pub(crate) fn open_shared(path: &Path) -> io::Result<Option<File>> {
    match open_at_most(path, LARGEST) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The last things of a file, however many stand in it.
#[derive(Debug)]
pub(crate) struct Last<T> {
    most: usize,
    kept: VecDeque<T>,
}

impl<T> Last<T> {
    pub(crate) fn of(most: usize) -> Self {
        Self {
            most,
            kept: VecDeque::new(),
        }
    }

    pub(crate) fn add(&mut self, one: T) {
        if self.kept.len() == self.most {
            self.kept.pop_front();
        }
        self.kept.push_back(one);
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        self.kept.into()
    }
}

/// Calls `each` with every whole line from a place on and returns the place after the last. Where no line
/// begins at that place, the file was begun anew and all of it is read. A missing file is an empty one.
pub(crate) fn each_from(
    path: &Path,
    from: u64,
    each: impl FnMut(Option<&[u8]>),
) -> io::Result<u64> {
    let Some(mut file) = open_shared(path)? else {
        return Ok(0);
    };
    let length = file.metadata()?.len();
    if from == length && from > 0 && begins_a_line(&mut file, from)? {
        return Ok(from);
    }
    let whole = lines::end_of_last_line(&file, length)?;
    let from = if from <= whole && begins_a_line(&mut file, from)? {
        from
    } else {
        0
    };
    file.seek(SeekFrom::Start(from))?;
    each_line(BufReader::new(file.take(whole - from)), each)?;
    Ok(whole)
}

/// Calls `each` with every line that is not empty; `None` for one that is longer than ours ever are.
pub(crate) fn each_line(
    mut reader: impl BufRead,
    mut each: impl FnMut(Option<&[u8]>),
) -> io::Result<()> {
    let mut line = Vec::new();
    // Within a line that is too long.
    let mut beyond = false;
    loop {
        line.clear();
        if (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(());
        }
        let ended = line.last() == Some(&b'\n');
        let whole = ended || (line.len() as u64) < LONGEST_LINE;
        match (beyond, whole) {
            (false, true) => {
                let text = line.trim_ascii();
                if !text.is_empty() {
                    each(Some(text));
                }
            }
            (false, false) => each(None),
            (true, _) => {}
        }
        beyond = !whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path, from: u64) -> (Vec<String>, u64) {
        let mut seen = Vec::new();
        let end = each_from(path, from, |line| {
            seen.push(line.map_or_else(
                || "too long".to_owned(),
                |line| String::from_utf8_lossy(line).into_owned(),
            ));
        })
        .unwrap();
        (seen, end)
    }

    #[test]
    fn a_reader_goes_on_where_it_was_and_waits_for_the_end_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        assert_eq!(read(&path, 0), (Vec::new(), 0));
        append(&path, &"one").unwrap();
        assert_eq!(read(&path, 0), (vec!["\"one\"".to_owned()], 6));
        assert_eq!(read(&path, 6), (Vec::new(), 6));
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"\"tw").unwrap();
        assert_eq!(read(&path, 6), (Vec::new(), 6));
        file.write_all(b"o\"\n").unwrap();
        assert_eq!(read(&path, 6), (vec!["\"two\"".to_owned()], 12));
    }

    #[test]
    fn a_file_that_was_begun_anew_is_read_from_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, "old\nolder\n").unwrap();
        let (_, end) = read(&path, 0);
        for anew in ["new\n", "a line that is longer\n", "new\nnew\n"] {
            std::fs::write(&path, anew).unwrap();
            let all: Vec<String> = anew.lines().map(str::to_owned).collect();
            assert_eq!(read(&path, end), (all, anew.len() as u64));
        }
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(&path, end), (Vec::new(), 0));
    }

    #[test]
    fn a_name_is_one_line_of_what_can_be_seen() {
        let hostile = " a\nb\0\u{202e}<script>\u{200b}\u{2028}c\t ";
        assert_eq!(one_line(hostile, 100), "a b<script> c");
        assert_eq!(one_line("Zo\u{eb} \u{674e}", 5), "Zo\u{eb} \u{674e}");
        assert_eq!(one_line("abcdef", 3), "abc");
        assert_eq!(one_line("\r\n\u{feff}", 3), "");
    }

    #[test]
    fn no_more_is_kept_than_was_asked_for() {
        let mut last = Last::of(2);
        for n in 0..5 {
            last.add(n);
        }
        assert_eq!(last.into_vec(), [3, 4]);
    }

    #[test]
    fn nothing_is_written_through_a_link_or_read_from_what_never_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        for target in ["private", "not-there"] {
            std::fs::write(folder.path().join("private"), "mine").unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            append(&path, &"one").unwrap_err();
            each_from(&path, 0, |_| {}).unwrap_err();
            std::fs::remove_file(&path).unwrap();
        }
        let private = std::fs::read(folder.path().join("private")).unwrap();
        assert_eq!(private, b"mine");
        assert!(!folder.path().join("not-there").exists());
        // As large as none of ours, without taking any room.
        let file = File::create(&path).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        each_from(&path, 0, |_| {}).unwrap_err();
    }

    #[test]
    fn a_line_without_end_is_no_line_and_the_next_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let long = "x".repeat(3 * LONGEST_LINE as usize);
        std::fs::write(&path, format!("{long}\nshort\n")).unwrap();
        let (seen, _) = read(&path, 0);
        assert_eq!(seen, ["too long", "short"]);
    }
}
