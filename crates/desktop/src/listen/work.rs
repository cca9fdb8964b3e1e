//! The thread of a listener: waits for what it listens to, for the next due moment and for being
//! woken; ends when told to, with its handle, when its callback panics or when the server is gone,
//! and says which. Knows nothing of what it listens to.

use std::any::Any;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::event::Event;
use crate::error::DesktopError;
use crate::x11::Scissors;

/// How long an end waits for a callback that does not come back.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// What a listener listens to.
pub(super) trait Work: Send + 'static {
    /// Where something comes in.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// When something is to be done though nothing comes in.
    fn due(&self) -> Option<Instant>;

    /// Cuts off whoever waits in `take`.
    fn scissors(&self) -> Option<Scissors>;

    /// After this, `take` gives all that the other side had seen before; `caught_up` says when that
    /// is done.
    fn catch_up(&mut self) -> Result<(), DesktopError>;

    fn caught_up(&self) -> bool;

    /// What is there by now, a bounded part of it at a time; does not wait.
    fn take(&mut self, events: &mut Vec<Event>) -> Result<Taken, DesktopError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    All,
    More,
}

/// A listener at work. It ends when this is dropped.
#[derive(Debug)]
pub struct ListenerHandle {
    shared: Arc<Shared>,
    scissors: Option<Scissors>,
    thread: ThreadId,
}

#[derive(Debug)]
struct Shared {
    wake: OwnedFd,
    stop: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    end: Option<End>,
    /// How often somebody asked to catch up, and up to which of them it is done.
    asked: u64,
    done: u64,
}

#[derive(Debug, Clone)]
enum End {
    Stopped,
    Panicked(String),
    Failed(String),
}

impl ListenerHandle {
    pub(super) fn start(
        name: &str,
        mut work: impl Work,
        mut tell: impl FnMut(Event) + Send + 'static,
    ) -> Result<Self, DesktopError> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| DesktopError::io("can't make a descriptor")(error.into()))?;
        let shared = Arc::new(Shared {
            wake,
            stop: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let scissors = work.scissors();
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let ran = catch_unwind(AssertUnwindSafe(|| run(&mut work, &theirs, &mut tell)));
                theirs.end(match ran {
                    _ if theirs.stop.load(Ordering::Acquire) => End::Stopped,
                    Ok(Ok(())) => End::Stopped,
                    Ok(Err(error)) => End::Failed(error.to_string()),
                    Err(panic) => End::Panicked(words(panic.as_ref())),
                });
                // Only now: who learns of the end by this must find it.
                drop(tell);
            })
            .map_err(DesktopError::io("can't start a thread"))?;
        Ok(Self {
            shared,
            scissors,
            thread: thread.thread().id(),
        })
    }

    /// Tells it to end, and does not wait. The callback is not called for anything that comes later.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake();
        if let Some(scissors) = &self.scissors {
            scissors.cut();
        }
    }

    pub fn is_alive(&self) -> bool {
        self.shared.state().end.is_none()
    }

    /// Waits until it has ended: `false` when it has not in that time, an error when it was not
    /// told to end.
    pub fn join(&self, within: Duration) -> Result<bool, DesktopError> {
        let ended = self.shared.wait(within, |state| state.end.is_some());
        if ended { self.ended() } else { Ok(false) }
    }

    /// Whether it has ended, and of what if nobody told it to.
    pub(super) fn ended(&self) -> Result<bool, DesktopError> {
        match &self.shared.state().end {
            None => Ok(false),
            Some(End::Stopped) => Ok(true),
            Some(End::Panicked(words)) => Err(DesktopError::Callback(words.clone())),
            Some(End::Failed(words)) => {
                Err(DesktopError::Gone(format!("a listener ended: {words}")))
            }
        }
    }

    /// Comes back when all that was there before has been told.
    pub(super) fn catch_up(&self, within: Duration) -> Result<(), DesktopError> {
        let mine = {
            let mut state = self.shared.state();
            state.asked += 1;
            state.asked
        };
        self.shared.wake();
        let caught_up = self
            .shared
            .wait(within, |state| state.done >= mine || state.end.is_some());
        let what = || "reading what keyboard and mouse did".to_owned();
        match (self.ended()?, caught_up) {
            (true, _) => Err(DesktopError::Gone("the listener was stopped".to_owned())),
            (false, true) => Ok(()),
            (false, false) => Err(DesktopError::Timeout {
                what: what(),
                within,
            }),
        }
    }
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        self.stop();
        // A callback may drop its own listener.
        if thread::current().id() != self.thread {
            self.shared.wait(LAST_WAIT, |state| state.end.is_some());
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // It fails only when it has been woken more often than a number can hold.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    fn end(&self, end: End) {
        self.state().end = Some(end);
        self.changed.notify_all();
    }

    fn wait(&self, within: Duration, is_so: impl Fn(&State) -> bool) -> bool {
        let began = Instant::now();
        let mut state = self.state();
        loop {
            let left = within.saturating_sub(began.elapsed());
            if is_so(&state) || left.is_zero() {
                return is_so(&state);
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn run(
    work: &mut impl Work,
    shared: &Shared,
    tell: &mut impl FnMut(Event),
) -> Result<(), DesktopError> {
    let mut events = Vec::new();
    let mut catching_up = None;
    loop {
        if catching_up.is_none() {
            let state = shared.state();
            catching_up = (state.asked > state.done).then_some(state.asked);
            drop(state);
            if catching_up.is_some() {
                work.catch_up()?;
            }
        }
        let taken = work.take(&mut events)?;
        for event in events.drain(..) {
            if shared.stop.load(Ordering::Acquire) {
                return Ok(());
            }
            tell(event);
        }
        if let Some(asked) = catching_up.take_if(|_| work.caught_up()) {
            shared.state().done = asked;
            shared.changed.notify_all();
        }
        if taken == Taken::All {
            wait(work, &shared.wake)?;
        }
        if shared.stop.load(Ordering::Acquire) {
            return Ok(());
        }
    }
}

fn wait(work: &impl Work, wake: &OwnedFd) -> Result<(), DesktopError> {
    let left = work
        .due()
        .map(|due| due.saturating_duration_since(Instant::now()));
    let timeout = left.and_then(|left| Timespec::try_from(left).ok());
    let woken = PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN);
    let polled = match work.descriptor() {
        Some(descriptor) => {
            let incoming = PollFd::from_borrowed_fd(descriptor, PollFlags::IN);
            poll(&mut [woken, incoming], timeout.as_ref())
        }
        None => poll(&mut [woken], timeout.as_ref()),
    };
    match polled {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(DesktopError::io("a listener can't wait")(error.into())),
    }
    // Not woken is no mistake.
    let _ = rustix::io::read(wake, &mut [0_u8; 8]);
    Ok(())
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it did not say why").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::listen::tick::tick;

    const SOON: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_listener_stops_when_it_is_told_to() {
        let (told, heard) = mpsc::channel();
        let handle = tick(SOON, move |tick| drop(told.send(tick))).unwrap();
        heard.recv_timeout(LONG).unwrap();
        assert!(handle.is_alive() && !handle.join(Duration::ZERO).unwrap());
        handle.stop();
        assert!(handle.join(LONG).unwrap());
        assert!(!handle.is_alive());
        assert!(heard.iter().count() < 1_000_000, "its callback is gone");
    }

    #[test]
    fn a_panic_ends_the_listener_and_is_told() {
        let handle = tick(SOON, |tick| assert_eq!(tick.number, 0, "no zeroth tick")).unwrap();
        let error = handle.join(LONG).unwrap_err();
        assert!(
            matches!(&error, DesktopError::Callback(words) if words.contains("no zeroth tick"))
        );
        assert!(!handle.is_alive());
        assert!(handle.catch_up(LONG).is_err());
    }

    #[test]
    fn a_callback_may_drop_its_own_listener() {
        let (give, given) = mpsc::channel::<ListenerHandle>();
        let (told, heard) = mpsc::channel();
        let handle = tick(SOON, move |_| {
            drop(given.recv());
            let _ = told.send(());
        });
        give.send(handle.unwrap()).unwrap();
        heard.recv_timeout(LONG).unwrap();
        assert!(heard.recv_timeout(LONG).is_err(), "it has ended");
    }

    #[test]
    fn dropping_a_handle_ends_its_listener() {
        let (told, heard) = mpsc::channel();
        let handle = tick(SOON, move |_| {
            let _ = told.send(());
        });
        heard.recv_timeout(LONG).unwrap();
        drop(handle);
        assert!(heard.iter().count() < 1_000_000);
    }
}
