//! A thread beside those who write to a run folder: they leave it work, which it does when it is due. It ends
//! with its owner, who waits for that. Knows nothing of what the work is.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Attendant<W> {
    desk: Arc<Desk<W>>,
    thread: Option<JoinHandle<()>>,
}

/// Where work is left for the thread.
#[derive(Debug, Default)]
pub(crate) struct Desk<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct State<W> {
    pub(crate) work: W,
    /// The owner waits for the thread to end.
    pub(crate) stopping: bool,
}

impl<W: Default + Send + 'static> Attendant<W> {
    /// `attend` comes back soon after the desk is stopping.
    pub(crate) fn start(name: &str, attend: fn(&Desk<W>)) -> io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn({
            let desk = Arc::clone(&desk);
            move || attend(&desk)
        })?;
        Ok(Self {
            desk,
            thread: Some(thread),
        })
    }
}

impl<W> Attendant<W> {
    pub(crate) fn desk(&self) -> &Desk<W> {
        &self.desk
    }
}

impl<W> Drop for Attendant<W> {
    fn drop(&mut self) {
        self.desk.lock().stopping = true;
        self.desk.wake();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl<W> Desk<W> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever waits looks again.
    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits as long as the work is like that, unless it is stopping.
    pub(crate) fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State<W>>,
        is: impl Fn(&W) -> bool,
    ) -> MutexGuard<'a, State<W>> {
        let waits = |state: &mut State<W>| !state.stopping && is(&state.work);
        let state = self.changed.wait_while(state, waits);
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass, unless it is stopping.
    pub(crate) fn pause<'a>(
        &self,
        state: MutexGuard<'a, State<W>>,
        time: Duration,
    ) -> MutexGuard<'a, State<W>> {
        let waits = |state: &mut State<W>| !state.stopping;
        let state = self.changed.wait_timeout_while(state, time, waits);
        state.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is left for it, one at a time.
    fn count(desk: &Desk<(u32, u32)>) {
        let mut state = desk.lock();
        loop {
            state = desk.wait_while(state, |(left, _)| *left == 0);
            if state.work.0 == 0 {
                return;
            }
            state.work.0 -= 1;
            state.work.1 += 1;
            desk.wake();
        }
    }

    #[test]
    fn what_was_left_is_done_and_the_owner_waits_for_the_end() {
        let attendant = Attendant::start("counts", count).unwrap();
        let desk = Arc::clone(&attendant.desk);
        desk.lock().work.0 = 3;
        desk.wake();
        let state = desk.wait_while(desk.lock(), |(_, done)| *done < 3);
        assert_eq!(state.work, (0, 3));
        drop(state);
        desk.lock().work.0 = 2;
        drop(attendant);
        // The thread is gone, and has let go of its desk.
        assert_eq!(desk.lock().work, (0, 5));
        assert_eq!(Arc::strong_count(&desk), 1);
    }

    #[test]
    fn an_owner_that_goes_ends_a_pause() {
        let hour = |desk: &Desk<()>| drop(desk.pause(desk.lock(), Duration::from_secs(3600)));
        drop(Attendant::start("pauses", hour).unwrap());
    }
}
