//! One watcher per run that somebody looks at, however many look.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::{Stream, stream};

use super::doorbell::Notices;
use super::listeners::{Listener, Listeners, Watched};
use super::watcher;
use crate::library::Run;
use crate::shape::Feed;

#[derive(Debug, Default)]
pub(crate) struct Feeds {
    notices: Notices,
    /// By the folder of the run.
    watched: Mutex<HashMap<PathBuf, Weak<Watched>>>,
}

impl Feeds {
    /// Begins with the state as it is; ends when the server does. Never blocks: files are read elsewhere.
    pub(crate) fn of(&self, run: &Arc<Run>) -> impl Stream<Item = Feed> + Send + 'static + use<> {
        let listener = Listener::of(self.watched(run));
        stream::unfold(listener, |mut listener| async {
            let feed = listener.next().await?;
            Some((feed, listener))
        })
    }

    fn watched(&self, run: &Arc<Run>) -> Arc<Watched> {
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let path = run.folder().path();
        if let Some(watched) = all.get(path).and_then(Weak::upgrade) {
            return watched;
        }
        all.retain(|_, watched| watched.strong_count() > 0);
        let listeners = Arc::new(Listeners::new());
        let watched = Arc::new(Watched(Arc::clone(&listeners)));
        all.insert(path.to_owned(), Arc::downgrade(&watched));
        watcher::start(Arc::clone(run), self.notices, listeners);
        watched
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        let all = self.watched.get_mut();
        for watched in all.unwrap_or_else(PoisonError::into_inner).values() {
            if let Some(watched) = watched.upgrade() {
                watched.0.end();
            }
        }
    }
}

#[cfg(test)]
#[path = "feeds_tests.rs"]
mod tests;
