//! Keeps the first and the last half of a stream within a fixed number of bytes, however long the
//! stream is. Knows nothing of what the bytes mean.

use std::collections::VecDeque;

use crate::contract::Captured;

#[derive(Debug)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    total: u64,
}

impl Capture {
    pub fn new(keep: u64) -> Self {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit: keep.div_ceil(2),
            tail_limit: keep / 2,
            total: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_limit - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Bytes seen so far, kept or not.
    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn finish(mut self) -> Captured {
        self.head.extend(self.tail);
        let omitted = self.total - self.head.len() as u64;
        Captured {
            bytes: self.head,
            omitted,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keeps_head_and_tail_however_it_arrives(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            keep in 0_u64..64,
        ) {
            let mut capture = Capture::new(keep);
            for chunk in &chunks {
                capture.push(chunk);
            }
            let whole = chunks.concat();
            let keep = keep as usize;
            let expected = if whole.len() <= keep {
                whole.clone()
            } else {
                [&whole[..keep.div_ceil(2)], &whole[whole.len() - keep / 2..]].concat()
            };
            let got = capture.finish();
            prop_assert_eq!(got.omitted, (whole.len() - expected.len()) as u64);
            prop_assert_eq!(got.bytes, expected);
        }
    }
}
