//! Finds many texts in a content at once: by a rolling sum over as many bytes as the shortest has, and by
//! comparing where that is known. Takes no more memory than the texts and one piece of the content.

use std::collections::HashMap;
use std::io::{self, Read};

use super::distinct::{LONGEST, SHORTEST};

const PIECE: usize = 256 << 10;
const FACTOR: u64 = 0x0100_0000_01b3;
/// Sums that no text has are known by one bit.
const BITS: u32 = 20;

#[derive(Debug)]
pub(super) struct Rolling {
    texts: Vec<Vec<u8>>,
    by_sum: HashMap<u64, Vec<usize>>,
    known: Vec<u64>,
    /// The factor of the byte that leaves the window.
    oldest: u64,
}

impl Rolling {
    /// Texts are known by their place in the list.
    pub(super) fn new(texts: Vec<Vec<u8>>) -> Self {
        let mut by_sum: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut known = vec![0; 1 << (BITS - 6)];
        for (place, text) in texts.iter().enumerate() {
            let Some(head) = text.get(..SHORTEST) else {
                continue;
            };
            let sum = sum(head);
            let (word, bit) = bit(sum);
            known[word] |= bit;
            by_sum.entry(sum).or_default().push(place);
        }
        let oldest = (1..SHORTEST).fold(1u64, |power, _| power.wrapping_mul(FACTOR));
        Self {
            texts,
            by_sum,
            known,
            oldest,
        }
    }

    /// Tells of every text that is found, as often as it is.
    pub(super) fn all(
        &self,
        mut content: impl Read,
        mut found: impl FnMut(usize),
    ) -> io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            let read = (&mut content).take(PIECE as u64).read_to_end(&mut buffer)?;
            let ended = read == 0;
            // The rest of a text may come with the next piece.
            let most = match ended {
                true => buffer.len(),
                false => buffer.len().saturating_sub(LONGEST),
            };
            self.piece(&buffer, most, &mut found);
            if ended {
                return Ok(());
            }
            buffer.drain(..most);
        }
    }

    /// Texts that begin before `most`.
    fn piece(&self, bytes: &[u8], most: usize, found: &mut impl FnMut(usize)) {
        if self.by_sum.is_empty() || bytes.len() < SHORTEST {
            return;
        }
        let mut rolling = sum(&bytes[..SHORTEST]);
        for at in 0..most {
            let (word, bit) = bit(rolling);
            if self.known[word] & bit != 0 {
                let places = self.by_sum.get(&rolling).into_iter().flatten();
                for place in places {
                    if bytes[at..].starts_with(&self.texts[*place]) {
                        found(*place);
                    }
                }
            }
            let Some(next) = bytes.get(at + SHORTEST) else {
                return;
            };
            rolling = rolling
                .wrapping_sub(u64::from(bytes[at]).wrapping_mul(self.oldest))
                .wrapping_mul(FACTOR)
                .wrapping_add(u64::from(*next));
        }
    }
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum: u64, byte| {
        sum.wrapping_mul(FACTOR).wrapping_add(u64::from(*byte))
    })
}

fn bit(sum: u64) -> (usize, u64) {
    let place = (sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize;
    (place / 64, 1 << (place % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_wherever_they_stand() {
        let texts = ["hidden-4711", "hidden-4711-and-more", "0123456789"];
        let search = Rolling::new(texts.iter().map(|text| text.as_bytes().to_vec()).collect());
        for before in [0, 1, 100, PIECE - 5, PIECE, PIECE + LONGEST, 3 * PIECE - 1] {
            let mut content = vec![b'h'; before];
            content.extend_from_slice(b"hidden-4711-and-mor");
            let mut found = Vec::new();
            search
                .all(content.as_slice(), |place| found.push(place))
                .unwrap();
            assert_eq!(found, [0], "{before}");
            content.extend_from_slice(b"e 0123456789");
            found.clear();
            search
                .all(content.as_slice(), |place| found.push(place))
                .unwrap();
            assert_eq!(found, [0, 1, 2], "{before}");
        }
        for short in [&b""[..], b"hidden"] {
            search.all(short, |_| panic!("nothing is there")).unwrap();
        }
    }
}
