//! Lines of a file with their places, read from a place on. A line that is too long is passed over, so
//! that it hides nothing else; one without an end is not there yet.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use agon_store::open_plain;

/// A line longer than this is not one of ours.
pub(crate) const LONGEST: usize = 64 << 20;

/// How far a file was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Read {
    /// After the last whole line.
    pub(crate) until: u64,
    /// There is more, which does not end.
    pub(crate) torn: bool,
}

/// Calls `each` with the place and the text of every whole line between two places; without a text for
/// one of more than `longest` bytes. A file that is not there has none.
pub(crate) fn for_each_line<E: From<io::Error>>(
    path: &Path,
    from: u64,
    to: u64,
    longest: usize,
    mut each: impl FnMut(u64, Option<&[u8]>) -> Result<(), E>,
) -> Result<Read, E> {
    let mut file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Read {
                until: from,
                torn: false,
            });
        }
        Err(error) => return Err(error.into()),
    };
    file.seek(SeekFrom::Start(from))?;
    let left = to.saturating_sub(from);
    let mut reader = BufReader::with_capacity(1 << 18, io::Read::take(file, left));
    let mut line = Vec::new();
    let (mut begin, mut at) = (from, from);
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(Read {
                until: begin,
                torn: at > begin,
            });
        }
        let end = block.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(block.len(), |end| end + 1);
        let text = &block[..end.unwrap_or(block.len())];
        let length = (at - begin) as usize + text.len();
        if end.is_some() && at == begin {
            // The whole line lies in the buffer: nothing is copied.
            each(begin, (length <= longest).then_some(text))?;
        } else {
            if length <= longest {
                line.extend_from_slice(text);
            }
            if end.is_some() {
                each(begin, (length <= longest).then_some(line.as_slice()))?;
                line.clear();
            }
        }
        at += taken as u64;
        reader.consume(taken);
        if end.is_some() {
            begin = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], from: u64, longest: usize) -> (Vec<(u64, Option<String>)>, Read) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut seen = Vec::new();
        let read = for_each_line(file.path(), from, u64::MAX, longest, |at, line| {
            let text = line.map(|line| String::from_utf8(line.to_vec()).unwrap());
            seen.push((at, text));
            Ok::<_, io::Error>(())
        });
        (seen, read.unwrap())
    }

    #[test]
    fn lines_have_places_and_the_last_may_be_torn() {
        let (seen, end) = read(b"one\n\nthree\nfo", 4, 100);
        assert_eq!(
            seen,
            [(4, Some(String::new())), (5, Some("three".to_owned()))]
        );
        assert_eq!(
            end,
            Read {
                until: 11,
                torn: true
            }
        );
    }

    #[test]
    fn a_line_that_is_too_long_hides_nothing() {
        let mut text = b"a\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', 1_000_000));
        text.extend(b"\nb\n");
        let (seen, end) = read(&text, 0, 300_000);
        assert_eq!(
            seen,
            [
                (0, Some("a".to_owned())),
                (2, None),
                (1_000_003, Some("b".to_owned()))
            ]
        );
        assert_eq!(end.until, text.len() as u64);
        let (seen, _) = read(&text, 0, 1_000_000);
        assert_eq!(seen[1].1.as_ref().unwrap().len(), 1_000_000);
    }
}
