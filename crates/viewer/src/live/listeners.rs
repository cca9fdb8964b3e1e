//! Those who look at one run: each gets the state as it is when it comes, and then everything that changes.
//! One that falls behind gets the state again.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::shape::{Feed, Progress};

/// How much is kept for one that falls behind.
const KEPT: usize = 1024;

#[derive(Debug)]
pub(super) struct Listeners {
    told: Mutex<Told>,
    ended: Condvar,
}

#[derive(Debug)]
struct Told {
    /// None until it was looked at for the first time.
    latest: Option<Progress>,
    /// None once it has ended.
    news: Option<Sender<Feed>>,
}

impl Listeners {
    pub(super) fn new() -> Self {
        Self {
            told: Mutex::new(Told {
                latest: None,
                news: Some(channel(KEPT).0),
            }),
            ended: Condvar::new(),
        }
    }

    /// What is new, and the state that it led to: no listener sees one without the other.
    pub(super) fn tell(&self, latest: Progress, fresh: Vec<Feed>) {
        let mut told = self.lock();
        if let Some(news) = &told.news {
            for feed in fresh {
                // Nobody listens: then nobody misses it.
                news.send(feed).ok();
            }
        }
        told.latest = Some(latest);
    }

    pub(super) fn end(&self) {
        self.lock().news = None;
        self.ended.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lock().news.is_none()
    }

    /// Waits; says whether it has ended.
    pub(super) fn wait_until(&self, until: Instant) -> bool {
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let waited = self.ended.wait_timeout_while(
            self.lock(),
            left(until).max(Duration::from_nanos(1)),
            |told| told.news.is_some(),
        );
        let (told, _) = waited.unwrap_or_else(PoisonError::into_inner);
        told.news.is_none()
    }

    fn join(&self) -> (Option<Progress>, Option<Receiver<Feed>>) {
        let told = self.lock();
        let news = told.news.as_ref().map(Sender::subscribe);
        (told.latest.clone(), news)
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the watching when it goes with the last one who listens.
#[derive(Debug)]
pub(super) struct Watched(pub(super) Arc<Listeners>);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// One who listens.
#[derive(Debug)]
pub(super) struct Listener {
    watched: Arc<Watched>,
    first: Option<Progress>,
    news: Option<Receiver<Feed>>,
}

impl Listener {
    pub(super) fn of(watched: Arc<Watched>) -> Self {
        let (first, news) = watched.0.join();
        Self {
            watched,
            first,
            news,
        }
    }

    /// None once it has ended.
    pub(super) async fn next(&mut self) -> Option<Feed> {
        loop {
            if let Some(first) = self.first.take() {
                return Some(Feed::Progress(first));
            }
            match self.news.as_mut()?.recv().await {
                Ok(feed) => return Some(feed),
                Err(RecvError::Lagged(_)) => (self.first, self.news) = self.watched.0.join(),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
