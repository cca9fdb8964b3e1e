//! Finds the shell's own marks in the stream of its terminal. A mark is an operating system command
//! of terminals, `ESC ] 7770 ; NONCE ; PAYLOAD BEL`; everything else, and every mark that is not
//! exactly of this session, is output. Pure: no clock, no I/O, the same for every chunking.

use crate::contract::Moment;

/// No payload is longer: an escaped path, a few numbers and punctuation.
const LONGEST_PAYLOAD: usize = 3 * 4096 + 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// The shell is up; its pid inside of the sandbox.
    Shell(u32),
    /// The prompt is back after the command line of this number.
    Prompt {
        line: u64,
        status: i32,
        /// When it came.
        since: Moment,
        cwd: String,
    },
    /// The shell itself ends.
    Exit(i32),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Output(&'a [u8]),
    Mark(Mark),
}

#[derive(Debug)]
pub(super) struct Scanner {
    prefix: Vec<u8>,
    /// What may become a mark: nothing, a part of the prefix, or the prefix and payload so far.
    held: Vec<u8>,
}

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

impl Scanner {
    pub(super) fn new(nonce: &str) -> Self {
        Self {
            prefix: format!("\x1b]7770;{nonce};").into_bytes(),
            held: Vec::new(),
        }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8], mut piece: impl FnMut(Piece<'_>)) {
        while let Some(&byte) = bytes.first() {
            if self.held.is_empty() {
                let plain = bytes.iter().position(|&b| b == ESC).unwrap_or(bytes.len());
                if plain > 0 {
                    piece(Piece::Output(&bytes[..plain]));
                    bytes = &bytes[plain..];
                } else {
                    self.held.push(ESC);
                    bytes = &bytes[1..];
                }
                continue;
            }
            if !self.fits(byte) {
                piece(Piece::Output(&self.held));
                self.held.clear();
                continue;
            }
            self.held.push(byte);
            bytes = &bytes[1..];
            if byte == BEL {
                match parse(&self.held[self.prefix.len()..self.held.len() - 1]) {
                    Some(mark) => piece(Piece::Mark(mark)),
                    None => piece(Piece::Output(&self.held)),
                }
                self.held.clear();
            }
        }
    }

    /// Whether what is held can still become a mark with this byte.
    fn fits(&self, byte: u8) -> bool {
        match self.prefix.get(self.held.len()) {
            Some(&expected) => byte == expected,
            None => byte != ESC && self.held.len() < self.prefix.len() + LONGEST_PAYLOAD,
        }
    }
}

fn parse(payload: &[u8]) -> Option<Mark> {
    let mut fields = payload.splitn(6, |&byte| byte == b';');
    let mark = match fields.next()? {
        b"shell" => Mark::Shell(number(fields.next()?)?),
        b"exit" => Mark::Exit(number(fields.next()?)?),
        b"prompt" => Mark::Prompt {
            line: number(fields.next()?)?,
            status: number(fields.next()?)?,
            since: Moment {
                tick: number(fields.next()?)?,
                pid: number(fields.next()?)?,
            },
            cwd: unescape(fields.next()?)?,
        },
        _ => return None,
    };
    fields.next().is_none().then_some(mark)
}

fn number<N: std::str::FromStr>(field: &[u8]) -> Option<N> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// `%HH` is a byte; the shell writes `%`, ESC and BEL so.
fn unescape(field: &[u8]) -> Option<String> {
    let mut parts = field.split(|&byte| byte == b'%');
    let mut path = parts.next()?.to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        path.push(u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok()?);
        path.extend_from_slice(rest);
    }
    Some(String::from_utf8_lossy(&path).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONCE: &str = "5eed";

    fn scan<'a>(
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<u8>, Vec<(usize, Mark)>, Vec<u8>) {
        let mut scanner = Scanner::new(NONCE);
        let (mut output, mut marks) = (Vec::new(), Vec::new());
        for chunk in chunks {
            scanner.feed(chunk, |piece| match piece {
                Piece::Output(bytes) => output.extend_from_slice(bytes),
                Piece::Mark(mark) => marks.push((output.len(), mark)),
            });
        }
        (output, marks, scanner.held)
    }

    #[test]
    fn marks_are_taken_out_of_the_output() {
        let stream =
            b"a\x1b]7770;5eed;exit;4\x07b\x1b]7770;5eed;prompt;7;3;500;41;/x %25%1b;y\x07c";
        let (output, marks, _) = scan([&stream[..]]);
        assert_eq!(output, b"abc");
        let prompt = Mark::Prompt {
            line: 7,
            status: 3,
            since: Moment { tick: 500, pid: 41 },
            cwd: "/x %\x1b;y".to_owned(),
        };
        assert_eq!(marks, [(1, Mark::Exit(4)), (2, prompt)]);
    }

    #[test]
    fn foreign_and_broken_marks_are_output() {
        for stream in [
            &b"\x1b]7770;0bad;exit;0\x07"[..],
            b"\x1b]7770;5eed;exit;1;2\x07",
            b"\x1b]7770;5eed;prompt;x;0;0;0;/\x07",
            b"\x1b]7770;5eed;prompt;0;0;0;0\x07",
            b"\x1b]7770;5eed;prompt;0;0;-1;0;/\x07",
            b"\x1b]7770;5eed;prompt;0;0;0;0;%zz\x07",
            b"\x1b]7770;5eed;shell;-1\x07",
            b"\x1b]0;title\x07\x1b[31mred\x1b[0m.",
        ] {
            let (output, marks, _) = scan([stream]);
            assert_eq!((output.as_slice(), marks.len()), (stream, 0));
        }
    }

    #[test]
    fn an_endless_payload_is_output() {
        let mut stream = b"\x1b]7770;5eed;prompt;0;0;0;0;".to_vec();
        stream.resize(100_000, b'x');
        let (output, marks, held) = scan([stream.as_slice()]);
        assert!(marks.is_empty() && held.is_empty());
        assert_eq!(output, stream);
    }

    /// Streams made of what could confuse the scanner.
    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"\x1b]7770;5eed;exit;1\x07".to_vec()),
            Just(b"\x1b]7770;5eed;prompt;1;130;7;8;/work%07\x07".to_vec()),
            Just(b"\x1b]7770;5eed;shell;42\x07".to_vec()),
            Just(b"\x1b]7770;beef;exit;1\x07".to_vec()),
            Just(b"\x1b]7770;5eed;".to_vec()),
            Just(b"\x1b".to_vec()),
            Just(b"\x07".to_vec()),
            prop::collection::vec(any::<u8>(), 0..20),
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(stream in streams(), size in 1_usize..9) {
            prop_assert_eq!(scan([stream.as_slice()]), scan(stream.chunks(size)));
        }

        #[test]
        fn no_byte_of_other_output_is_lost(stream in streams()) {
            let (output, marks, held) = scan([stream.as_slice()]);
            let lost = stream.len() - output.len() - held.len();
            prop_assert_eq!(lost == 0, marks.is_empty());
            if marks.is_empty() {
                prop_assert_eq!([output, held].concat(), stream);
            }
        }
    }
}
