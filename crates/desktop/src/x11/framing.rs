//! Follows the packets of an X server by their headers, and refuses one that is too large. The reader
//! behind it makes room for a packet as soon as it knows its length, and a hostile server can claim
//! gigabytes.

use std::io;

/// The largest answer that makes sense: a picture of 16 million pixels over the socket.
const LARGEST: u64 = 64 << 20;

/// Beginning of a packet, which tells its length.
const HEADER: usize = 32;
/// The same of the first answer, to the connection itself: at most 256 KiB by its 16-bit length.
const SETUP_HEADER: usize = 8;

const REPLY: u8 = 1;
const GENERIC_EVENT: u8 = 35;

#[derive(Debug)]
pub(super) struct Framing {
    header: [u8; HEADER],
    /// Bytes of the header that have come.
    have: usize,
    /// Bytes of the packet that are still to come after its header.
    rest: u64,
    setting_up: bool,
}

impl Default for Framing {
    fn default() -> Self {
        Self {
            header: [0; HEADER],
            have: 0,
            rest: 0,
            setting_up: true,
        }
    }
}

impl Framing {
    /// Looks at what was read, in the order in which it came.
    pub(super) fn follow(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.rest > 0 {
                let skipped = bytes
                    .len()
                    .min(usize::try_from(self.rest).unwrap_or(usize::MAX));
                self.rest -= skipped as u64;
                bytes = &bytes[skipped..];
                continue;
            }
            let wanted = if self.setting_up {
                SETUP_HEADER
            } else {
                HEADER
            };
            let taken = bytes.len().min(wanted - self.have);
            self.header[self.have..self.have + taken].copy_from_slice(&bytes[..taken]);
            self.have += taken;
            bytes = &bytes[taken..];
            if self.have == wanted {
                self.have = 0;
                self.rest = self.length()?;
                self.setting_up = false;
            }
        }
        Ok(())
    }

    /// Bytes after the header that has come.
    fn length(&self) -> io::Result<u64> {
        let header = &self.header;
        if self.setting_up {
            return Ok(4 * u64::from(u16::from_le_bytes([header[6], header[7]])));
        }
        // The highest bit tells that an event was sent by another client.
        if !matches!(header[0] & 0x7f, REPLY | GENERIC_EVENT) {
            return Ok(0);
        }
        let units = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        match 4 * u64::from(units) {
            length @ 0..=LARGEST => Ok(length),
            length => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the X server sends an answer of {length} bytes"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn setup(units: u16) -> Vec<u8> {
        let mut bytes = vec![1, 0, 11, 0, 0, 0];
        bytes.extend(units.to_le_bytes());
        bytes.extend(vec![9; 4 * usize::from(units)]);
        bytes
    }

    fn packet(kind: u8, units: u32, body: usize) -> Vec<u8> {
        let mut bytes = vec![kind, 0, 0, 0];
        bytes.extend(units.to_le_bytes());
        bytes.resize(HEADER + body, 7);
        bytes
    }

    #[test]
    fn an_answer_of_gigabytes_is_refused_by_its_header() {
        let mut framing = Framing::default();
        framing.follow(&setup(3)).unwrap();
        framing.follow(&packet(REPLY, 2, 8)).unwrap();
        let error = framing
            .follow(&packet(REPLY, 1_000_000_000, 0))
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn ordinary_events_have_no_length() {
        let mut framing = Framing::default();
        framing.follow(&setup(0)).unwrap();
        framing.follow(&packet(2, u32::MAX, 0)).unwrap();
        framing.follow(&packet(GENERIC_EVENT | 0x80, 1, 4)).unwrap();
        assert!(framing.follow(&packet(GENERIC_EVENT, u32::MAX, 0)).is_err());
    }

    proptest! {
        #[test]
        fn pieces_are_followed_like_the_whole(cuts in proptest::collection::vec(1_usize..40, 0..60)) {
            let mut bytes = setup(5);
            bytes.extend(packet(REPLY, 3, 12));
            bytes.extend(packet(4, 77, 0));
            bytes.extend(packet(REPLY, u32::MAX, 0));
            let mut framing = Framing::default();
            let mut rest = &bytes[..];
            let mut refused = false;
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let (piece, later) = rest.split_at(cut.min(rest.len()));
                refused |= framing.follow(piece).is_err();
                rest = later;
            }
            prop_assert!(refused);
        }
    }
}
