//! A place in the text, and the count of steps that were taken. Every way to go on leads through here,
//! so that no text takes more than so many steps per byte.

use super::refusal::ParseError;

/// Longer answers are refused unread.
pub const MAX_BYTES: usize = 1 << 20;
/// Brackets that may be open at the same time.
pub const MAX_DEPTH: usize = 64;
/// What is read once takes two or three; the rest is for places that are tried and given up.
const STEPS_PER_BYTE: usize = 32;
const STEPS_AT_LEAST: usize = 4096;

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    steps: usize,
    most: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, ParseError> {
        if text.len() > MAX_BYTES {
            return Err(ParseError::TooLong { bytes: text.len() });
        }
        Ok(Self {
            text,
            at: 0,
            steps: 0,
            most: STEPS_AT_LEAST + STEPS_PER_BYTE * text.len(),
        })
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// Bytes from the start; always between two characters.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The rest of the text.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(0)
    }

    /// The byte so many further on.
    pub(super) fn byte(&self, further: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + further).copied()
    }

    /// One character on; says which it was.
    pub(super) fn bump(&mut self) -> Option<char> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        self.steps += letter.len_utf8();
        Some(letter)
    }

    /// One on, if this byte is next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    /// To a place that was stood at before, or was found by looking ahead.
    pub(super) fn go_to(&mut self, at: usize) {
        self.steps += 1 + at.saturating_sub(self.at);
        self.at = at;
    }

    pub(super) fn exhausted(&self) -> bool {
        self.steps > self.most
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Over white space and comments.
    pub(super) fn skip_space(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0c) => {
                    self.bump();
                }
                Some(b'#') => self.skip_line(),
                Some(b'/') if self.begins_remark() => self.skip_line(),
                Some(b'\\') if self.byte(1) == Some(b'\n') => {
                    self.bump();
                }
                Some(b'\\') if self.byte(1) == Some(b'\r') && self.byte(2) == Some(b'\n') => {
                    self.bump();
                }
                // A no-break space: in answers that were copied from a page.
                Some(0xc2) if self.byte(1) == Some(0xa0) => {
                    self.bump();
                }
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        while self.bump().is_some_and(|letter| letter != '\n') {}
    }

    /// `// ..`, unless a number follows, which would be a division.
    fn begins_remark(&self) -> bool {
        if self.byte(0) != Some(b'/') || self.byte(1) != Some(b'/') {
            return false;
        }
        let further = if self.byte(2) == Some(b' ') { 3 } else { 2 };
        !self.byte(further).is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Over a comment among other text, if one begins here: what is `#1` or stands inside of a word or an
    /// address is none.
    pub(super) fn skip_comment(&mut self) -> bool {
        let begins = match self.peek() {
            Some(b'#') => !self.byte(1).is_some_and(|byte| byte.is_ascii_digit()),
            Some(b'/') => self.begins_remark(),
            _ => false,
        };
        let before = self.at.checked_sub(1).map(|at| self.text.as_bytes()[at]);
        let comment = begins && before.is_none_or(|byte| byte.is_ascii_whitespace());
        if comment {
            self.skip_line();
        }
        comment
    }

    /// A name, with dots in it, if one begins here.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let start = self.at;
        if !self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        {
            return None;
        }
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
        {
            self.bump();
        }
        Some(&self.text[start..self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_and_comments_are_skipped() {
        let mut cursor = Cursor::new(" \t\r\n# it's [a] comment\n\u{a0}\\\n\\\r\n x#").unwrap();
        cursor.skip_space();
        assert_eq!(cursor.name(), Some("x"));
        cursor.skip_space();
        assert_eq!(cursor.peek(), None);
        let mut cursor = Cursor::new("\\x").unwrap();
        cursor.skip_space();
        assert_eq!(cursor.at(), 0);
    }

    #[test]
    fn names_have_dots_and_no_digit_in_front() {
        let mut cursor = Cursor::new("a.b_1(").unwrap();
        assert_eq!(cursor.name(), Some("a.b_1"));
        assert_eq!(cursor.name(), None);
        assert_eq!(Cursor::new("1a").unwrap().name(), None);
    }

    #[test]
    fn long_texts_are_refused_unread() {
        let long = "x".repeat(MAX_BYTES + 1);
        assert_eq!(
            Cursor::new(&long).unwrap_err(),
            ParseError::TooLong {
                bytes: MAX_BYTES + 1
            }
        );
        assert!(Cursor::new(&long[1..]).is_ok());
    }

    #[test]
    fn steps_run_out() {
        let mut cursor = Cursor::new("ab").unwrap();
        while !cursor.exhausted() {
            cursor.go_to(0);
            cursor.bump();
        }
        assert!(cursor.steps() <= STEPS_AT_LEAST + 2 * STEPS_PER_BYTE + 2);
    }
}
