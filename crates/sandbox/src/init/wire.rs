//! What host and init say to each other: one JSON object per packet of a `SOCK_SEQPACKET` socket,
//! with descriptors attached. Both ends are ours; what travels may still come from an agent, so
//! sizes are bounded on both sides.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::Pid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contract::Moment;

/// The largest packet: below the kernel's default send buffer.
pub(crate) const MOST: usize = 192 << 10;

/// The longest text of an answer. It names what an agent has asked for, so it may be cut.
const LONGEST_MESSAGE: usize = 4096;

/// The largest answer: a message in which every character takes an escape, with room around it.
pub(crate) const LARGEST_ANSWER: usize = 6 * LONGEST_MESSAGE + 1024;

/// The most descriptors one packet carries.
const MOST_DESCRIPTORS: usize = 4;

/// Host to init. Answers carry the same `id`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) ask: Ask,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// The host has put us under its limits; add those that a process sets for itself. No answer.
    Go {
        limits: Rlimits,
        env: BTreeMap<String, String>,
        /// There will be programs that others must not look into.
        apart: bool,
    },
    /// Descriptors: standard input, output, error, and optionally the verdict channel.
    Spawn(Start),
    /// The same, of one that no other program shall look into.
    SpawnApart(Start),
    /// Answered with the terminal's controlling end.
    Terminal(Start),
    /// Ends the program that was started under this id, with its whole tree. No answer of its own:
    /// the program's `Exited` is one.
    Kill { program: u64 },
    /// Ends the command line that this shell runs.
    KillCommand { shell: u32, since: Moment },
    /// Answered with a socket that listens on this port of our loopback. From then on it is the
    /// host's: calls from inside arrive there, and nothing passes through us.
    Listen { port: u16 },
    /// Makes everybody else stand still.
    Pause,
    /// Lets them go on.
    Resume,
    /// Descriptor: where the content goes.
    Read { path: String, limit: u64 },
    /// Descriptor: the content.
    Write { path: String },
    /// Descriptor: a tar file.
    Unpack { into: String },
    /// Ends everybody else, then packs the working folder into the descriptor, or nothing of it if
    /// there is no budget.
    Freeze { budget: Option<u64> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) env: BTreeMap<String, String>,
}

/// Limits that a process puts on itself and its children.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rlimits {
    pub(crate) file_size: u64,
    /// Only where no control group counts processes.
    pub(crate) processes: Option<u64>,
    /// Only where no control group counts memory.
    pub(crate) memory: Option<u64>,
}

/// Init to host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) say: Say,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Say {
    Hello,
    Done,
    Started,
    /// And nobody can look into it.
    StartedApart,
    Exited(Ended),
    /// Whether there was anything to do.
    Killed(bool),
    /// The working folder is packed; how much of it was left out.
    Packed {
        left_out: u64,
    },
    /// Some programs can't be ended.
    Stuck,
    /// It could not be done, and why.
    Failed(String),
    /// The same, because there is no such file.
    NoFile(String),
}

/// Bounded, and fit to be shown: what an agent put into the message gives no orders to a terminal.
fn shown(message: &str) -> String {
    let cut = message.floor_char_boundary(LONGEST_MESSAGE);
    let shown = message.get(..cut).unwrap_or_default();
    shown.replace(char::is_control, "?")
}

impl Say {
    pub(crate) fn failed(message: &str) -> Self {
        Self::Failed(shown(message))
    }

    pub(crate) fn no_file(message: &str) -> Self {
        Self::NoFile(shown(message))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
}

/// A packet as it arrived.
#[derive(Debug)]
pub(crate) struct Packet<T> {
    pub(crate) body: T,
    pub(crate) descriptors: Vec<OwnedFd>,
    /// Who sent it, in our own numbering; present where the socket asks for it.
    pub(crate) sender: Option<Pid>,
}

pub(crate) fn encode<T: Serialize>(body: &T) -> io::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(body)?;
    if bytes.len() > MOST {
        return Err(io::Error::new(
            io::ErrorKind::ArgumentListTooLong,
            "arguments and environment are too long",
        ));
    }
    Ok(bytes)
}

pub(crate) fn send(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one packet"));
    }
    let flags = flags | SendFlags::NOSIGNAL;
    rustix::io::retry_on_intr(|| {
        rustix::net::sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, flags)
    })?;
    Ok(())
}

/// `None` at the end of the conversation. A packet that cannot be read is `InvalidData`, after
/// which the conversation goes on.
pub(crate) fn receive<T: DeserializeOwned>(
    socket: impl AsFd,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> io::Result<Option<Packet<T>>> {
    let mut space = [MaybeUninit::uninit();
        rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS), ScmCredentials(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| {
        let mut into = [IoSliceMut::new(buffer)];
        rustix::net::recvmsg(&socket, &mut into, &mut ancillary, flags)
    })?;
    let mut descriptors = Vec::new();
    let mut sender = None;
    for message in ancillary.drain() {
        match message {
            RecvAncillaryMessage::ScmRights(rights) => descriptors.extend(rights),
            RecvAncillaryMessage::ScmCredentials(credentials) => sender = Some(credentials.pid),
            _ => {}
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    if received.flags.contains(ReturnFlags::TRUNC) || received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(unreadable("it was cut short"));
    }
    let bytes = buffer.get(..received.bytes).unwrap_or_default();
    Ok(Some(Packet {
        body: serde_json::from_slice(bytes).map_err(unreadable)?,
        descriptors,
        sender,
    }))
}

fn unreadable(why: impl fmt::Display) -> io::Error {
    let message = format!("a packet is unreadable: {why}");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn packets_keep_their_borders_and_descriptors() {
        let (here, there) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        let reply = |id| Reply {
            id,
            say: Say::Exited(Ended::Signal(9)),
        };
        let attached = std::fs::File::open("/dev/null").unwrap();
        let none = SendFlags::empty();
        send(
            &here,
            &encode(&reply(1)).unwrap(),
            &[attached.as_fd()],
            none,
        )
        .unwrap();
        send(&here, &encode(&reply(2)).unwrap(), &[], none).unwrap();
        drop(here);

        let mut buffer = vec![0; MOST];
        let mut next = || receive::<Reply>(&there, &mut buffer, RecvFlags::empty()).unwrap();
        let first = next().unwrap();
        assert_eq!((first.body.id, first.descriptors.len()), (1, 1));
        let second = next().unwrap();
        assert_eq!((second.body.id, second.descriptors.len()), (2, 0));
        assert!(next().is_none());
    }

    #[test]
    fn every_message_fits_an_answer() {
        for hostile in ["\u{1}", "\"", "\\", "\u{9b}", "\u{2028}", "é", "\u{10ffff}"] {
            let say = Say::failed(&hostile.repeat(100_000));
            let Say::Failed(message) = &say else { panic!() };
            assert!(!message.contains(char::is_control), "{hostile:?}");
            let id = u64::MAX;
            assert!(encode(&Reply { id, say }).unwrap().len() <= LARGEST_ANSWER);
        }
    }

    #[test]
    fn an_unreadable_packet_is_not_the_end() {
        let (here, there) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        let good = encode(&Reply {
            id: 7,
            say: Say::Done,
        })
        .unwrap();
        for packet in [&b"x".repeat(2 * LARGEST_ANSWER), &b"{".to_vec(), &good] {
            send(&here, packet, &[], SendFlags::empty()).unwrap();
        }
        let mut buffer = vec![0; LARGEST_ANSWER];
        let mut next = || receive::<Reply>(&there, &mut buffer, RecvFlags::empty());
        for _ in 0..2 {
            assert_eq!(next().unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(next().unwrap().unwrap().body.id, 7);
    }

    #[test]
    fn what_no_packet_can_hold_is_refused_before_sending() {
        let long = Reply {
            id: 0,
            say: Say::Failed("x".repeat(MOST)),
        };
        let error = encode(&long).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ArgumentListTooLong);
    }
}
