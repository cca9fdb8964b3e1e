//! Which addresses a network of a sandbox does not lead to: said as routes, in the kernel's own language
//! (netlink), by a process that may. Knows nothing of why.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use serde::{Deserialize, Serialize};

/// Addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) first: Ipv4Addr,
    pub(crate) bits: u8,
}

impl Range {
    pub(crate) const fn new(first: Ipv4Addr, bits: u8) -> Self {
        Self { first, bits }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        let shared = self.bits.min(other.bits).min(32);
        let mask = u32::MAX.checked_shl(32 - u32::from(shared)).unwrap_or(0);
        self.first.to_bits() & mask == other.first.to_bits() & mask
    }
}

/// A message that makes a route of the main table: numbers are those of `linux/rtnetlink.h`.
const LENGTH: u32 = 36;
const NEW_ROUTE: u16 = 24;
/// A request, with an answer, that makes a route or takes the place of one.
const FLAGS: u16 = 0x1 | 0x4 | 0x400 | 0x100;
const INTERNET: u8 = 2;
const MAIN_TABLE: u8 = 254;
const STATIC: u8 = 4;
const UNREACHABLE: u8 = 7;
const DESTINATION: u16 = 1;

/// Where the answer has the number of its error, or 0.
const ERROR_AT: std::ops::Range<usize> = 16..20;

/// Routes of the network in which this was opened.
#[derive(Debug)]
pub(crate) struct Routes(OwnedFd);

impl Routes {
    pub(crate) fn open() -> io::Result<Self> {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            // Which for this family are routes.
            None,
        )?;
        Ok(Self(socket))
    }

    /// From now on nothing is sent to these addresses. A socket that is bound to a device looks at no routes, but
    /// then asks for its neighbour, and nobody on that device answers for them.
    pub(crate) fn close(&self, range: Range) -> io::Result<()> {
        rustix::net::send(&self.0, &message(range), SendFlags::empty())?;
        let mut answer = [0; 256];
        let (_, length) = rustix::net::recv(&self.0, &mut answer, RecvFlags::empty())?;
        let error = answer.get(..length).and_then(|it| it.get(ERROR_AT));
        let error = error.and_then(|it| it.try_into().ok());
        match error.map(i32::from_ne_bytes) {
            Some(0) => Ok(()),
            Some(number) => Err(io::Error::from_raw_os_error(-number)),
            None => Err(io::Error::other("the kernel's answer is too short")),
        }
    }
}

fn message(range: Range) -> Vec<u8> {
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_ROUTE.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    // Number and sender, by which nothing is told apart here.
    message.extend([0; 8]);
    message.extend([INTERNET, range.bits, 0, 0]);
    message.extend([MAIN_TABLE, STATIC, 0, UNREACHABLE]);
    message.extend([0; 4]);
    message.extend(8_u16.to_ne_bytes());
    message.extend(DESTINATION.to_ne_bytes());
    message.extend(range.first.octets());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_length_that_it_names() {
        let range = Range::new(Ipv4Addr::new(10, 0, 0, 0), 8);
        assert_eq!(message(range).len(), LENGTH as usize);
    }

    #[test]
    fn ranges_overlap_by_their_shared_bits() {
        let range = |a, b, c, d, bits| Range::new(Ipv4Addr::new(a, b, c, d), bits);
        assert!(range(10, 0, 2, 0, 24).overlaps(range(10, 0, 2, 15, 32)));
        assert!(range(10, 0, 0, 0, 8).overlaps(range(10, 0, 2, 0, 24)));
        assert!(range(0, 0, 0, 0, 0).overlaps(range(10, 0, 2, 0, 24)));
        assert!(!range(10, 0, 3, 0, 24).overlaps(range(10, 0, 2, 0, 24)));
    }
}
