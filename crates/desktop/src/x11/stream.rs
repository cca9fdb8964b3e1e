//! The stream under an X connection: never waits longer than its deadline, and can be cut from
//! outside. A server that is stopped, or a hostile one that says nothing, is an error and no hang.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::rust_connection::{DefaultStream, PollMode, Stream};
use x11rb::utils::RawFdContainer;

use super::framing::Framing;

/// The longest silence of a server that somebody waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct DeadlineStream {
    inner: DefaultStream,
    /// The same socket, to cut it.
    scissors: Arc<UnixStream>,
    framing: Mutex<Framing>,
}

/// Cuts a connection from any thread: whoever waits on it gets an error.
#[derive(Debug, Clone)]
pub(crate) struct Scissors(Arc<UnixStream>);

/// Cuts a connection that is still there, without being a reason for it to be.
#[derive(Debug)]
pub(super) struct LooseScissors(Weak<UnixStream>);

impl LooseScissors {
    pub(super) fn cut(&self) {
        if let Some(socket) = self.0.upgrade() {
            Scissors(socket).cut();
        }
    }

    pub(super) fn is_useless(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Scissors {
    pub(super) fn loose(&self) -> LooseScissors {
        LooseScissors(Arc::downgrade(&self.0))
    }

    pub(crate) fn cut(&self) {
        // One that is closed already needs no cutting.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl DeadlineStream {
    pub(crate) fn new(socket: UnixStream) -> io::Result<Self> {
        let scissors = Arc::new(socket.try_clone()?);
        let (inner, _) = DefaultStream::from_unix_stream(socket)?;
        Ok(Self {
            inner,
            scissors,
            framing: Mutex::default(),
        })
    }

    pub(crate) fn scissors(&self) -> Scissors {
        Scissors(Arc::clone(&self.scissors))
    }
}

impl AsFd for DeadlineStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.scissors.as_fd()
    }
}

/// Waits until `fd` is ready, at most to `deadline`; says whether it is.
pub(crate) fn ready(fd: BorrowedFd<'_>, flags: PollFlags, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl Stream for DeadlineStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        if mode.readable() {
            flags |= PollFlags::IN;
        }
        if mode.writable() {
            flags |= PollFlags::OUT;
        }
        if ready(self.as_fd(), flags, Instant::now() + PATIENCE)? {
            Ok(())
        } else {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the X server has not answered for {} s", PATIENCE.as_secs()),
            ))
        }
    }

    fn read(&self, buf: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        let read = self.inner.read(buf, fds)?;
        let mut framing = self.framing.lock().unwrap_or_else(PoisonError::into_inner);
        framing.follow(&buf[..read])?;
        Ok(read)
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.inner.write(buf, fds)
    }

    fn write_vectored(
        &self,
        bufs: &[io::IoSlice<'_>],
        fds: &mut Vec<RawFdContainer>,
    ) -> io::Result<usize> {
        self.inner.write_vectored(bufs, fds)
    }
}
