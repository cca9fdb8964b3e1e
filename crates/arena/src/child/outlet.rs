//! Writes lines to a child that may not read them: within a deadline, or not at all.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, write};
use serde::Serialize;

/// A child that takes longer to read a line is stuck.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Outlet {
    /// Locked for a line, so that lines come whole.
    pipe: Mutex<OwnedFd>,
}

impl Outlet {
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        Ok(Self {
            pipe: Mutex::new(pipe),
        })
    }

    pub(super) fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let deadline = Instant::now() + PATIENCE;
        let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = &line[..];
        while !rest.is_empty() {
            match write(&*pipe, rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::AGAIN) => wait_until_writable(&pipe, deadline)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn wait_until_writable(pipe: &OwnedFd, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&left)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
