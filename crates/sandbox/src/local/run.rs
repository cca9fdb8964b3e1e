//! Programs inside of a sandbox, as the host sees them: started on pipes, captured, ended.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::link::{Answer, Call};
use crate::capture::Capture;
use crate::contract::{Captured, Exit};
use crate::init::wire::{Ended, Say};

/// How long after a program's end its streams may stay open: what it left in the background may
/// hold them for ever, while a `tee` at the end of a pipeline deserves to finish.
const GRACE: Duration = Duration::from_millis(200);

/// A running program. Dropping it kills it, with its whole tree.
pub(super) struct Program {
    call: Call,
    over: bool,
}

impl Program {
    pub(super) fn new(call: Call) -> Self {
        Self { call, over: false }
    }

    /// The answer to its start; the caller judges it. `None` when the sandbox is gone.
    pub(super) async fn started(&mut self) -> Option<Answer> {
        let answer = self.call.answer().await;
        self.over = !matches!(
            &answer,
            Some(Answer {
                say: Say::Started | Say::StartedApart,
                ..
            })
        );
        answer
    }

    /// `None` when the sandbox is gone.
    pub(super) async fn end(&mut self) -> Option<Exit> {
        while let Some(Answer { say, .. }) = self.call.answer().await {
            if let Say::Exited(ended) = say {
                self.over = true;
                return Some(match ended {
                    Ended::Code(code) => Exit::Code(code),
                    Ended::Signal(signal) => Exit::Signal(signal),
                });
            }
        }
        self.over = true;
        None
    }

    pub(super) fn kill(&self) {
        self.call.link().kill(self.call.id());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.over {
            self.kill();
        }
    }
}

/// One stream of a program, read to its end however long that takes, so that nobody in the
/// sandbox ever waits for us or dies of a closed pipe. Only what came until [`Stream::take`] is
/// kept.
pub(super) struct Stream {
    kept: Arc<Mutex<Option<Capture>>>,
    end: JoinHandle<()>,
}

impl Stream {
    /// The end for the program comes along.
    pub(super) fn open(keep: u64) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = pipe()?;
        Ok((Self::reading(Receiver::from_owned_fd(ours)?, keep), theirs))
    }

    /// A stream that nobody but us can read from. A pipe could be opened for reading through
    /// `/proc/self/fd` by those who only were to write to it; a socket can't be opened at all.
    pub(super) fn one_way(keep: u64) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        Ok((
            Self::reading(UnixStream::from_std(ours)?, keep),
            theirs.into(),
        ))
    }

    fn reading(from: impl AsyncRead + Send + Unpin + 'static, keep: u64) -> Self {
        let kept = Arc::new(Mutex::new(Some(Capture::new(keep))));
        let end = tokio::spawn(drain(from, Arc::clone(&kept)));
        Self { kept, end }
    }

    fn take(self) -> Captured {
        let kept = lock(&self.kept).take();
        kept.map(Capture::finish).unwrap_or_default()
    }
}

/// Gives streams their grace, then takes what there is.
pub(super) async fn take_all<const N: usize>(mut streams: [Stream; N]) -> [Captured; N] {
    let ends = async {
        for stream in &mut streams {
            let _ = (&mut stream.end).await;
        }
    };
    let _ = timeout(GRACE, ends).await;
    streams.map(Stream::take)
}

async fn drain(mut from: impl AsyncRead + Unpin, kept: Arc<Mutex<Option<Capture>>>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if let Some(capture) = lock(&kept).as_mut() {
            capture.push(buffer.get(..count).unwrap_or_default());
        }
    }
}

fn lock(kept: &Mutex<Option<Capture>>) -> std::sync::MutexGuard<'_, Option<Capture>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Read end, write end.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// An empty file in memory.
pub(super) fn memory_file() -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(File::from(memfd_create("agon", flags)?))
}

/// A secret for whoever reads first. A file could be wound back by those who come later and share
/// the descriptor, or find it in `/proc`. Holds what a pipe takes without anybody reading.
pub(super) fn read_once(content: &[u8]) -> io::Result<OwnedFd> {
    const TAKEN_AT_ONCE: usize = 4096;
    if content.len() > TAKEN_AT_ONCE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let (theirs, ours) = pipe()?;
    File::from(ours).write_all(content)?;
    Ok(theirs)
}

/// Bytes to be read inside and changed by nobody. Unlike a pipe, a file needs nobody to feed it.
pub(super) fn sealed(content: &[u8]) -> io::Result<OwnedFd> {
    if content.is_empty() {
        return Ok(File::open("/dev/null")?.into());
    }
    let mut file = memory_file()?;
    file.write_all(content)?;
    file.rewind()?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}
