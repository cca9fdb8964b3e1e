//! Files of short lines that several processes append to at once, such as reviews: nothing of them is
//! lost, and what a crash or a stranger left in them stops nobody. Knows nothing of what the lines say.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;

use crate::lines;

/// Characters of a person's name that are kept.
pub(crate) const LONGEST_NAME: usize = 100;
/// A line longer than this is not one of ours.
pub(crate) const LONGEST_LINE: u64 = 1 << 17;

/// Appends a line in one write, which others' can't cut in two, and has it on disk. After a torn line it
/// begins a line of its own.
pub(crate) fn append(path: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
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

/// Calls `each` with every whole line from a place on and returns the place after the last. Where no line
/// begins at that place, the file was begun anew and all of it is read. A missing file is an empty one.
pub(crate) fn each_from(
    path: &Path,
    from: u64,
    each: impl FnMut(Option<&[u8]>),
) -> io::Result<u64> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    if from == length && from > 0 && begins_a_line(&mut file, from)? {
        return Ok(from);
    }
    let whole = lines::end_of_last_line(&mut file, length)?;
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
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
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
    fn a_line_without_end_is_no_line_and_the_next_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let long = "x".repeat(3 * LONGEST_LINE as usize);
        std::fs::write(&path, format!("{long}\nshort\n")).unwrap();
        let (seen, _) = read(&path, 0);
        assert_eq!(seen, ["too long", "short"]);
    }
}
