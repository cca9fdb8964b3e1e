//! What every answer is made of, and where the work of making it is done: off the threads that talk to
//! browsers, and never more of it at once than the machine bears.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use agon_core::clock::{Clock, SystemClock};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::secret::Secret;
use crate::error::ViewerError;
use crate::library::{Library, Run, lock};
use crate::live::Feeds;
use crate::pages::Frame;
use crate::serve::Asked;

/// Answers that are worked on at the same time.
const MOST_AT_WORK: usize = 8;
/// Of these, for one run: one that is large, or on a slow disk, must not keep the others waiting. What is asked
/// of no run alone shares as many.
const MOST_OF_ONE: usize = 3;
/// Pages that listen to runs at the same time.
const MOST_LISTENERS: usize = 64;

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) library: Library,
    pub(crate) feeds: Feeds,
    pub(crate) clock: Arc<dyn Clock>,
    /// What a page must show to change anything.
    pub(crate) token: Secret,
    /// Who started the viewer, where only he can be in front of it; empty if nobody knows.
    pub(crate) user: String,
    pub(crate) stop: CancellationToken,
    pub(crate) listeners: Arc<Semaphore>,
    at_work: Arc<Semaphore>,
    /// Only of runs that are worked for, so that names of none take no room.
    by_run: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// For whom an answer is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum For {
    /// By its name in the address.
    Run(String),
    /// Several runs, or all of them.
    Runs,
    /// No run is looked at.
    Nobody,
}

impl App {
    pub(crate) fn new(library: Library, stop: CancellationToken) -> Result<Self, ViewerError> {
        Ok(Self {
            library,
            user: String::new(),
            feeds: Feeds::default(),
            clock: Arc::new(SystemClock::default()),
            token: Secret::random()?,
            stop,
            listeners: Arc::new(Semaphore::new(MOST_LISTENERS)),
            at_work: Arc::new(Semaphore::new(MOST_AT_WORK)),
            by_run: Mutex::default(),
        })
    }

    pub(crate) fn frame(&self) -> Frame {
        Frame::served(self.token.reveal()).offering(&self.user)
    }

    /// The run that the address names.
    pub(crate) fn run(&self, asked: &Asked) -> Result<Arc<Run>, ViewerError> {
        self.library.run(asked.part("run")?)
    }

    /// Runs something that reads files.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        whom: For,
        work: impl FnOnce(&Self) -> Result<T, ViewerError> + Send + 'static,
    ) -> Result<T, ViewerError> {
        let gone = |_| ViewerError::Internal("the viewer is ending".to_owned());
        // First among those who want the same: who waits there takes nobody else's place.
        let turn = match self.queue(whom) {
            Some(queue) => Some(queue.acquire_owned().await.map_err(gone)?),
            None => None,
        };
        let place = Arc::clone(&self.at_work)
            .acquire_owned()
            .await
            .map_err(gone)?;
        let app = Arc::clone(self);
        let (done, made) = oneshot::channel();
        // A thread of its own, not one of the runtime: that would wait at its end for a disk that hangs.
        let thread = thread::Builder::new().name("answer".to_owned());
        let started = thread.spawn(move || {
            let _places = (place, turn);
            // Who asked may be gone.
            let _ = done.send(work(&app));
        });
        let failed = |error: &dyn std::fmt::Display| {
            ViewerError::Internal(format!("an answer could not be made: {error}"))
        };
        started.map_err(|error| failed(&error))?;
        made.await.map_err(|error| failed(&error))?
    }

    fn queue(&self, whom: For) -> Option<Arc<Semaphore>> {
        let name = match whom {
            For::Run(name) => name,
            // No run has no name.
            For::Runs => String::new(),
            For::Nobody => return None,
        };
        let mut by_run = lock(&self.by_run);
        by_run.retain(|_, queue| Arc::strong_count(queue) > 1);
        let queue = by_run.entry(name);
        let queue = queue.or_insert_with(|| Arc::new(Semaphore::new(MOST_OF_ONE)));
        Some(Arc::clone(queue))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Nothing takes so long.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A disk that hangs does not keep the program alive.
    #[test]
    fn what_never_ends_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let library = Library::new(vec![root.path().into()], root.path().join("cache")).unwrap();
        let app = Arc::new(App::new(library, CancellationToken::new()).unwrap());
        let (end, never) = mpsc::channel::<()>();
        let (began, begun) = mpsc::channel::<()>();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.spawn(async move {
            let work = move |_: &App| {
                began.send(()).ok();
                Ok(never.recv().is_err())
            };
            app.work(For::Runs, work).await
        });
        begun.recv_timeout(PATIENCE).unwrap();
        drop(runtime);
        drop(end);
    }

    #[tokio::test]
    async fn a_slow_run_keeps_no_other_waiting() {
        let root = tempfile::tempdir().unwrap();
        let library = Library::new(vec![root.path().into()], root.path().join("cache")).unwrap();
        let app = Arc::new(App::new(library, CancellationToken::new()).unwrap());
        let mut slow = Vec::new();
        let mut held = Vec::new();
        for whom in [For::Run("a".to_owned()), For::Runs] {
            for _ in 0..MOST_AT_WORK {
                let (end, ended) = mpsc::channel::<()>();
                held.push(end);
                let (app, whom) = (Arc::clone(&app), whom.clone());
                let work = async move { app.work(whom, move |_| Ok(ended.recv().is_err())).await };
                slow.push(tokio::spawn(work));
            }
        }
        // Until as many of them are at work as may be.
        let left = MOST_AT_WORK - 2 * MOST_OF_ONE;
        let taken = async {
            while app.at_work.available_permits() > left {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, taken).await.unwrap();
        for whom in [For::Run("b".to_owned()), For::Nobody] {
            let done = app.work(whom, |_| Ok(7));
            assert_eq!(timeout(PATIENCE, done).await.unwrap().unwrap(), 7);
        }
        drop(held);
        for work in slow {
            assert!(work.await.unwrap().unwrap());
        }
        app.work(For::Nobody, |_| Ok(())).await.unwrap();
        assert!(app.queue(For::Runs).is_some());
        assert_eq!(lock(&app.by_run).len(), 1);
    }
}
