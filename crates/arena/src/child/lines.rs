//! Lines out of chunks. Of bounded length: a child that never ends its line fills no memory.

/// A task can be as long as a body; reports are short.
pub(super) const LONGEST: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    /// The line that is being read is too long: it is passed over.
    overlong: bool,
}

impl Lines {
    /// Takes a chunk and gives the lines that it ends.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.add(&rest[..end]);
            let line = std::mem::take(&mut self.begun);
            if !std::mem::replace(&mut self.overlong, false) {
                lines.push(line);
            }
            rest = &rest[end + 1..];
        }
        self.add(rest);
        lines
    }

    fn add(&mut self, part: &[u8]) {
        if self.overlong || self.begun.len() + part.len() > LONGEST {
            self.overlong = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let mut lines = Lines::default();
        assert!(lines.feed(b"ab").is_empty());
        assert_eq!(lines.feed(b"c\n\nd"), [b"abc".to_vec(), Vec::new()]);
        assert_eq!(lines.feed(b"\n"), [b"d".to_vec()]);
    }

    #[test]
    fn a_line_that_never_ends_is_passed_over() {
        let mut lines = Lines::default();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..20 {
            assert!(lines.feed(&chunk).is_empty());
            assert!(lines.begun.len() <= LONGEST);
        }
        assert_eq!(lines.feed(b"end\nnext\n"), [b"next".to_vec()]);
    }
}
