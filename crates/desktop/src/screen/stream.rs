//! Frames at a wanted rate while the screen changes, by a thread with a connection of its own. While
//! it does not change, the thread is asleep. Frames wait in a ring of a fixed size for whoever wants
//! them: the oldest make room.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::capture::{CaptureOptions, Capturer, Way};
use super::change::Changes;
use super::frame::Frame;
use crate::address::DisplayAddress;
use crate::error::DesktopError;
use crate::x11::{Scissors, XConnection};

const FASTEST: u32 = 240;

/// Each frame of a large screen takes up to 256 MB.
const MOST_KEPT: usize = 64;

/// Frames that users hold besides those in the ring, before new ones are copied.
const HELD: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamConfig {
    /// Frames per second, 1 to 240.
    pub fps: u32,
    /// With the pointer drawn; then its moves are changes, too.
    pub cursor: bool,
    /// How many frames are kept, 1 to 64.
    pub keep: usize,
}

/// Ended when dropped.
#[derive(Debug)]
pub struct FrameStream {
    shared: Arc<Shared>,
    wake: OwnedFd,
    scissors: Scissors,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Ring {
    /// The latest is the last. Their numbers are those up to `captured`.
    frames: VecDeque<Arc<Frame>>,
    captured: u64,
    /// Number of the first frame that `next` has not given out.
    next: u64,
    dropped: u64,
    /// Why there will be no more.
    end: Option<String>,
}

impl FrameStream {
    pub(super) fn start(
        address: &DisplayAddress,
        config: StreamConfig,
    ) -> Result<Self, DesktopError> {
        if !(1..=FASTEST).contains(&config.fps) || !(1..=MOST_KEPT).contains(&config.keep) {
            return Err(DesktopError::Invalid(format!(
                "{} frames per second with {} kept are not within 1 to {FASTEST} and 1 to \
                 {MOST_KEPT}",
                config.fps, config.keep
            )));
        }
        let x = Arc::new(XConnection::open(address)?);
        let scissors = x.scissors();
        let changes = Changes::begin(Arc::clone(&x))?;
        if config.cursor {
            changes.with_pointer()?;
        }
        let failed = DesktopError::io("can't start a stream of frames");
        let wake = eventfd(0, EventfdFlags::CLOEXEC).map_err(io::Error::from);
        let (wake, heard) = wake
            .and_then(|wake| Ok((wake.try_clone()?, wake)))
            .map_err(failed)?;
        let shared = Arc::new(Shared {
            ring: Mutex::default(),
            news: Condvar::new(),
        });
        let producer = Producer {
            capturer: Capturer::new(x, config.keep + HELD)?,
            changes,
            heard,
            config,
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new()
            .name("agon-frames".to_owned())
            .spawn(move || producer.run())
            .map_err(DesktopError::io("can't start a thread for frames"))?;
        Ok(Self {
            shared,
            wake,
            scissors,
            thread: Some(thread),
        })
    }

    /// The oldest frame that was not given out by this and is still kept; waits for one, at most
    /// `within`. `None` when the screen did not change.
    pub fn next(&self, within: Duration) -> Result<Option<Arc<Frame>>, DesktopError> {
        let (mut ring, _) = self
            .shared
            .news
            .wait_timeout_while(self.shared.ring(), within, |ring| {
                ring.next >= ring.captured && ring.end.is_none()
            })
            .unwrap_or_else(PoisonError::into_inner);
        if ring.next < ring.captured {
            let behind = ring.captured - ring.next;
            let index = ring.frames.len().checked_sub(behind as usize);
            ring.next += 1;
            return Ok(index.and_then(|index| ring.frames.get(index).cloned()));
        }
        match &ring.end {
            Some(why) => Err(DesktopError::Gone(why.clone())),
            None => Ok(None),
        }
    }

    /// The latest frames, at most `n` of those that are kept, the latest last.
    pub fn last(&self, n: usize) -> Vec<Arc<Frame>> {
        let ring = self.shared.ring();
        let skipped = ring.frames.len().saturating_sub(n);
        ring.frames.iter().skip(skipped).cloned().collect()
    }

    /// Ends it now: whoever waits for a frame gets an error.
    pub fn end(&self) {
        // Wherever the thread is, in its sleep or waiting for the server.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        self.scissors.cut();
    }

    /// How many frames were captured.
    pub fn captured(&self) -> u64 {
        self.shared.ring().captured
    }

    /// How many frames made room before [`FrameStream::next`] gave them out.
    pub fn dropped(&self) -> u64 {
        self.shared.ring().dropped
    }
}

impl Drop for FrameStream {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Producer {
    capturer: Capturer,
    changes: Changes,
    /// Readable when the stream is to end.
    heard: OwnedFd,
    config: StreamConfig,
    shared: Arc<Shared>,
}

impl Producer {
    fn run(self) {
        let why = match self.produce() {
            Ok(()) => "the stream was ended".to_owned(),
            Err(DesktopError::Gone(why)) => why,
            Err(error) => error.to_string(),
        };
        self.shared.ring().end = Some(why);
        self.shared.news.notify_all();
    }

    fn produce(&self) -> Result<(), DesktopError> {
        let options = CaptureOptions {
            region: None,
            cursor: self.config.cursor,
            way: Way::Best,
        };
        let interval = Duration::from_secs(1) / self.config.fps;
        let mut due = Instant::now();
        // The first frame shows the screen as it is.
        let mut changed = true;
        loop {
            if changed {
                if self.ended(None, Some(due))? {
                    return Ok(());
                }
                // What is drawn after this is told again, so nothing is missed.
                self.changes.take()?;
                self.keep(self.capturer.capture(&options)?);
                due = (due + interval).max(Instant::now());
            }
            changed = self.changes.take()?;
            if !changed && self.ended(Some(self.changes.socket()), None)? {
                return Ok(());
            }
        }
    }

    fn keep(&self, frame: Frame) {
        let frame = Arc::new(frame);
        let gone = {
            let mut ring = self.shared.ring();
            let full = ring.frames.len() >= self.config.keep;
            let gone = full.then(|| ring.frames.pop_front()).flatten();
            if gone.is_some() && ring.captured - ring.next >= self.config.keep as u64 {
                ring.next += 1;
                ring.dropped += 1;
            }
            ring.frames.push_back(frame);
            ring.captured += 1;
            gone
        };
        self.shared.news.notify_all();
        // Not while others wait for the ring.
        drop(gone);
    }

    /// Waits for `socket` to be readable or for the deadline; says whether the stream is to end.
    fn ended(
        &self,
        socket: Option<BorrowedFd<'_>>,
        deadline: Option<Instant>,
    ) -> Result<bool, DesktopError> {
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let heard = PollFd::from_borrowed_fd(self.heard.as_fd(), PollFlags::IN);
            let mut fds = vec![heard];
            fds.extend(socket.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
            match poll(&mut fds, left.as_ref()) {
                Ok(_) => return Ok(!fds[0].revents().is_empty()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    let failed = DesktopError::io("can't wait for the X server");
                    return Err(failed(error.into()));
                }
            }
        }
    }
}
