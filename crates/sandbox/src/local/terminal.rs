//! The controlling end of a terminal inside of a sandbox, as an asynchronous stream.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::readiness::register;
use super::run::Program;
use crate::contract::Terminal;

/// Both halves; the program dies with the last of them.
struct Shared {
    _program: Program,
    fd: AsyncFd<OwnedFd>,
}

struct Reader(Arc<Shared>);
struct Writer(Arc<Shared>);

pub(super) fn open(fd: OwnedFd, program: Program) -> io::Result<Terminal> {
    fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
    let shared = Arc::new(Shared {
        fd: register(fd)?,
        _program: program,
    });
    Ok(Terminal {
        reader: Box::new(Reader(Arc::clone(&shared))),
        writer: Box::new(Writer(shared)),
    })
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.0.fd.poll_read_ready(cx))?;
            let room = buffer.initialize_unfilled();
            match ready.try_io(|fd| Ok(rustix::io::read(fd, &mut *room)?)) {
                Ok(Ok(count)) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                // The kernel's way to say that nobody has the other end any more.
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.0.fd.poll_write_ready(cx))?;
            let written = ready.try_io(|fd| Ok(rustix::io::write(fd, bytes)?));
            if let Ok(written) = written {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
