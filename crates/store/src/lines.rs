//! JSON lines that may have been torn by a crash: the last line counts only if it is complete.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::plain_file::{append_plain, open_plain};

/// A line longer than this is not one of ours.
const LONGEST: u64 = 64 << 20;

/// Calls `each` with every complete line and its position. Returns whether a torn line was dropped.
pub(crate) fn for_each(path: &Path, mut each: impl FnMut(u64, &[u8])) -> io::Result<bool> {
    for_each_while(path, |at, line| {
        each(at, line);
        ControlFlow::Continue(())
    })
}

/// The same until `each` has had enough; what follows is not read.
pub(crate) fn for_each_while(
    path: &Path,
    mut each: impl FnMut(u64, &[u8]) -> ControlFlow<()>,
) -> io::Result<bool> {
    let mut reader = match open_plain(path) {
        Ok(file) => BufReader::with_capacity(1 << 18, file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut line = Vec::new();
    let mut at = 0;
    loop {
        line.clear();
        let read = (&mut reader).take(LONGEST).read_until(b'\n', &mut line)? as u64;
        if line.pop() != Some(b'\n') {
            return if read < LONGEST {
                Ok(read > 0)
            } else {
                Err(io::Error::other(format!(
                    "the line at byte {at} never ends"
                )))
            };
        }
        if each(at, &line).is_break() {
            return Ok(false);
        }
        at += read;
    }
}

/// Opens a file for appending whole lines; a torn last line is cut off. Returns its length, and
/// whether there was one.
pub(crate) fn open_append(path: &Path) -> io::Result<(File, u64, bool)> {
    let file = append_plain(path)?;
    let length = file.metadata()?.len();
    let whole = end_of_last_line(&file, length)?;
    if whole < length {
        file.set_len(whole)?;
    }
    Ok((file, whole, whole < length))
}

/// Where the last line break before `length` ends.
pub(crate) fn end_of_last_line(file: &File, length: u64) -> io::Result<u64> {
    const STEP: u64 = 1 << 16;
    let mut end = length;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        block.resize((end - start) as usize, 0);
        file.read_exact_at(&mut block, start)?;
        if let Some(newline) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    proptest::proptest! {
        #[test]
        fn whatever_was_torn_only_whole_lines_are_seen(
            lines in proptest::collection::vec("[a-z]{0,40}", 0..20), cut in 0usize..60,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.jsonl");
            let mut text: String = lines.iter().map(|l| format!("{l}\n")).collect();
            text.truncate(text.len().saturating_sub(cut));
            std::fs::write(&path, &text).unwrap();
            let whole: Vec<&str> =
                text.split_inclusive('\n').filter(|l| l.ends_with('\n')).map(str::trim_end).collect();

            let (mut file, length, _) = open_append(&path).unwrap();
            let expected: usize = whole.iter().map(|l| l.len() + 1).sum();
            proptest::prop_assert_eq!(length, expected as u64);
            file.write_all(b"next\n").unwrap();

            let mut seen = Vec::new();
            let torn = for_each(&path, |_, l| seen.push(String::from_utf8(l.to_vec()).unwrap())).unwrap();
            proptest::prop_assert!(!torn);
            let mut expected: Vec<String> = whole.iter().map(|l| (*l).to_owned()).collect();
            expected.push("next".to_owned());
            proptest::prop_assert_eq!(seen, expected);
        }
    }
}
