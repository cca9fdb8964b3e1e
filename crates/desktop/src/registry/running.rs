//! A thread that does something until it is stopped: what every listener and runnable is once it has
//! been started.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::DesktopError;
use crate::listen::{ListenerHandle, StopSignal};

/// How long a value that is dropped waits for its thread.
const ENDING: Duration = Duration::from_secs(2);

/// Stopped when dropped.
#[derive(Debug)]
pub struct Running {
    name: String,
    thread: Thread,
}

#[derive(Debug)]
enum Thread {
    Ours(Ours),
    Listener(ListenerHandle),
}

impl Running {
    pub(super) fn start(
        name: &str,
        work: impl FnOnce(&StopSignal) -> Result<(), DesktopError> + Send + 'static,
    ) -> Result<Self, DesktopError> {
        Self::start_woken(name, Box::new(|| {}), work)
    }

    /// `wake` is called when it is to stop, for those who wait for something else than the signal.
    pub(super) fn start_woken(
        name: &str,
        wake: Wake,
        work: impl FnOnce(&StopSignal) -> Result<(), DesktopError> + Send + 'static,
    ) -> Result<Self, DesktopError> {
        Ok(Self {
            name: name.to_owned(),
            thread: Thread::Ours(Ours::start(name, wake, work)?),
        })
    }

    pub(super) fn listener(name: &str, handle: ListenerHandle) -> Self {
        Self {
            name: name.to_owned(),
            thread: Thread::Listener(handle),
        }
    }

    /// Asks it to end, and does not wait.
    pub fn stop(&self) {
        match &self.thread {
            Thread::Ours(ours) => ours.stop(),
            Thread::Listener(handle) => handle.stop(),
        }
    }

    /// Whether it has not ended yet, by itself or because it was asked to.
    pub fn is_alive(&self) -> bool {
        match &self.thread {
            Thread::Ours(ours) => !ours.ended.wait(Duration::ZERO),
            Thread::Listener(handle) => handle.is_alive(),
        }
    }

    /// Waits for its end; an error if it failed, or did not end within that time.
    pub fn join(self, within: Duration) -> Result<(), DesktopError> {
        let ended = match self.thread {
            Thread::Ours(ours) => ours.join(&self.name, within)?,
            Thread::Listener(handle) => handle.join(within)?,
        };
        if ended {
            return Ok(());
        }
        Err(DesktopError::Timeout {
            what: format!("waiting for the end of {}", self.name),
            within,
        })
    }
}

pub(super) type Wake = Box<dyn Fn() + Send + Sync>;

struct Ours {
    stop: Arc<StopSignal>,
    wake: Wake,
    ended: Arc<Ended>,
    thread: Option<JoinHandle<Result<(), DesktopError>>>,
}

#[derive(Debug, Default)]
struct Ended {
    is: Mutex<bool>,
    changed: Condvar,
}

impl Ended {
    fn wait(&self, within: Duration) -> bool {
        let began = Instant::now();
        let mut is = self.is.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = within.saturating_sub(began.elapsed());
            if *is || left.is_zero() {
                return *is;
            }
            let waited = self.changed.wait_timeout(is, left);
            (is, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Says that the thread has ended, also by a panic.
struct Says(Arc<Ended>);

impl Drop for Says {
    fn drop(&mut self) {
        *self.0.is.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

impl Ours {
    fn start(
        name: &str,
        wake: Wake,
        work: impl FnOnce(&StopSignal) -> Result<(), DesktopError> + Send + 'static,
    ) -> Result<Self, DesktopError> {
        let stop = Arc::new(StopSignal::default());
        let ended = Arc::new(Ended::default());
        let says = Says(Arc::clone(&ended));
        let theirs = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || {
            let _says = says;
            work(&theirs)
        });
        let thread = thread.map_err(DesktopError::io("can't start a thread"))?;
        Ok(Self {
            stop,
            wake,
            ended,
            thread: Some(thread),
        })
    }

    fn stop(&self) {
        self.stop.set();
        (self.wake)();
    }

    fn join(mut self, name: &str, within: Duration) -> Result<bool, DesktopError> {
        if !self.ended.wait(within) {
            return Ok(false);
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result.map(|()| true),
            Some(Err(_)) => Err(DesktopError::Callback(format!("{name} has panicked"))),
            None => Ok(true),
        }
    }
}

impl fmt::Debug for Ours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ours({:?})", self.thread)
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.stop();
        let own = self.thread.as_ref().map(|thread| thread.thread().id());
        // A callback may drop its own listener.
        if own.is_some_and(|own| own != thread::current().id()) {
            self.ended.wait(ENDING);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn waits(stop: &StopSignal) -> Result<(), DesktopError> {
        assert!(stop.wait(LONG));
        Ok(())
    }

    #[test]
    fn it_lives_until_it_is_stopped() {
        let running = Running::start("test", waits).unwrap();
        assert!(running.is_alive());
        running.stop();
        running.join(LONG).unwrap();
    }

    #[test]
    fn one_that_does_not_end_is_not_waited_for() {
        let running = Running::start("test", waits).unwrap();
        let error = running.join(Duration::ZERO).unwrap_err();
        assert!(matches!(error, DesktopError::Timeout { .. }), "{error}");
    }

    #[test]
    fn errors_and_panics_come_back() {
        let failing = Running::start("test", |_| Err(DesktopError::Gone("so".to_owned())));
        let error = failing.unwrap().join(LONG).unwrap_err();
        assert_eq!(error.to_string(), "the desktop is gone: so");
        let panicking = Running::start("test", |_| panic!("on purpose")).unwrap();
        let error = panicking.join(LONG).unwrap_err();
        assert!(error.to_string().contains("test has panicked"), "{error}");
    }
}
