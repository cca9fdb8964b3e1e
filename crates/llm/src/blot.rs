//! Takes keys out of files, and finds files that hold one: what an agent left is kept, what an agent is given
//! must hold none. Texts are the scrubber's own business.

use std::fmt;
use std::io::{self, Read};

use crate::key::{HIDDEN, Scrubber, known_keys};

/// Bytes that are looked through at a time.
const PIECE: usize = 64 << 10;

impl Scrubber {
    /// A file's content without any key.
    pub fn scrub_bytes(content: Vec<u8>) -> Vec<u8> {
        known_keys().iter().fold(content, |content, key| {
            let mut rest = content.as_slice();
            let mut clean = Vec::new();
            while let Some(at) = find(rest, key.as_bytes()) {
                clean.extend_from_slice(&rest[..at]);
                clean.extend_from_slice(HIDDEN.as_bytes());
                rest = &rest[at + key.len()..];
            }
            if clean.is_empty() && rest.len() == content.len() {
                return content;
            }
            clean.extend_from_slice(rest);
            clean
        })
    }

    /// An archive of files without any key. Every length in it stays what it is, and so does every sum of
    /// bytes: a key may stand in the name of a file, whose header has one.
    pub fn blotted<R: Read>(archive: R) -> impl Read {
        let keys: Vec<Vec<u8>> = known_keys().into_iter().map(String::into_bytes).collect();
        Blotted {
            longest: keys.iter().map(Vec::len).max().unwrap_or(0),
            keys,
            inner: archive,
            buffer: Vec::new(),
            at: 0,
            clean: 0,
            ended: false,
        }
    }
}

/// Looks for the keys of this process in a content that comes in pieces.
#[derive(Clone)]
pub struct KeySearch {
    keys: Vec<Vec<u8>>,
    longest: usize,
    /// The end of what was looked through: a key may begin there.
    tail: Vec<u8>,
}

impl KeySearch {
    /// For the keys that are known by now.
    pub fn of_process() -> Self {
        let keys: Vec<Vec<u8>> = known_keys().into_iter().map(String::into_bytes).collect();
        Self {
            longest: keys.iter().map(Vec::len).max().unwrap_or(0),
            keys,
            tail: Vec::new(),
        }
    }

    /// Begins another content.
    pub fn restart(&mut self) {
        self.tail.clear();
    }

    /// Whether a key ends in this piece.
    pub fn finds(&mut self, piece: &[u8]) -> bool {
        if self.keys.is_empty() {
            return false;
        }
        self.tail.extend_from_slice(piece);
        let found = self.keys.iter().any(|key| find(&self.tail, key).is_some());
        let held = self.longest.saturating_sub(1).min(self.tail.len());
        self.tail.drain(..self.tail.len() - held);
        found
    }
}

impl fmt::Debug for KeySearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySearch(..)")
    }
}

struct Blotted<R> {
    keys: Vec<Vec<u8>>,
    longest: usize,
    inner: R,
    buffer: Vec<u8>,
    /// What was handed out, and how far no key can be any more.
    at: usize,
    clean: usize,
    ended: bool,
}

impl<R: Read> Blotted<R> {
    fn fill(&mut self) -> io::Result<()> {
        while self.at == self.clean && !self.ended {
            self.buffer.drain(..self.at);
            self.at = 0;
            let mut piece = (&mut self.inner).take(PIECE as u64);
            self.ended = piece.read_to_end(&mut self.buffer)? == 0;
            for key in &self.keys {
                blot(&mut self.buffer, key);
            }
            // The beginning of a key may stand at the end.
            let held = if self.ended {
                0
            } else {
                self.longest.saturating_sub(1)
            };
            self.clean = self.buffer.len().saturating_sub(held);
        }
        Ok(())
    }
}

impl<R: Read> Read for Blotted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let mut ready = &self.buffer[self.at..self.clean];
        let count = ready.read(into)?;
        self.at += count;
        Ok(count)
    }
}

/// Puts as many bytes with the same sum in the place of every `key`.
fn blot(bytes: &mut [u8], key: &[u8]) {
    let sum: usize = key.iter().copied().map(usize::from).sum();
    let (each, over) = (sum / key.len(), sum % key.len());
    let mut from = 0;
    while let Some(at) = find(&bytes[from..], key) {
        from += at;
        for (n, byte) in bytes[from..from + key.len()].iter_mut().enumerate() {
            *byte = u8::try_from(each + usize::from(n < over)).unwrap_or(b'x');
        }
        from += key.len();
    }
}

fn find(bytes: &[u8], key: &[u8]) -> Option<usize> {
    let first = key.first()?;
    let mut from = 0;
    loop {
        let at = bytes.get(from..)?.iter().position(|byte| byte == first)?;
        from += at;
        if bytes[from..].starts_with(key) {
            return Some(from);
        }
        from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    const KEY: &str = "sk-blot-0123456789";

    fn blotted(content: &[u8]) -> Vec<u8> {
        let mut clean = Vec::new();
        Scrubber::blotted(content).read_to_end(&mut clean).unwrap();
        clean
    }

    fn sum(bytes: &[u8]) -> u64 {
        bytes.iter().copied().map(u64::from).sum()
    }

    #[test]
    fn bytes_are_free_of_keys() {
        Key::new(KEY);
        let content = format!("\u{0}ssk{KEY}{KEY}-\u{fe}").into_bytes();
        assert_eq!(
            Scrubber::scrub_bytes(content),
            "\u{0}ssk[key][key]-\u{fe}".as_bytes()
        );
        for plain in [&b""[..], b"sk-blot-", b"\xff\xfe"] {
            assert_eq!(Scrubber::scrub_bytes(plain.to_vec()), plain);
        }
    }

    #[test]
    fn a_key_is_found_wherever_pieces_end() {
        Key::new(KEY);
        let text = format!("x = '{KEY}'");
        for cut in 0..text.len() {
            let mut search = KeySearch::of_process();
            let (first, second) = text.as_bytes().split_at(cut);
            assert!(search.finds(first) | search.finds(second), "{cut}");
            search.restart();
            assert!(!search.finds(b"-0123456789") && !search.finds(b"'"));
        }
    }

    /// Wherever it stands: pieces are looked through one by one.
    #[test]
    fn archives_keep_their_lengths_and_sums() {
        Key::new(KEY);
        for before in [
            0,
            1,
            9,
            PIECE - KEY.len(),
            PIECE - 5,
            PIECE - 1,
            PIECE,
            2 * PIECE - 3,
        ] {
            let mut content = vec![b's'; before];
            content.extend_from_slice(KEY.as_bytes());
            content.extend_from_slice(b"sk-blot");
            let clean = blotted(&content);
            assert_eq!((clean.len(), sum(&clean)), (content.len(), sum(&content)));
            assert_eq!(find(&clean, KEY.as_bytes()), None, "{before}");
            assert_eq!(clean[..before], content[..before]);
            assert!(clean.ends_with(b"sk-blot"));
        }
        let plain = vec![7; 3 * PIECE + 1];
        assert_eq!(blotted(&plain), plain);
        assert_eq!(blotted(b""), b"");
    }
}
