//! What every answer is made of, and where the work of making it is done: off the threads that talk to
//! browsers, and never more of it at once than the machine bears.

use std::sync::Arc;

use agon_core::clock::{Clock, SystemClock};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::secret::Secret;
use crate::error::ViewerError;
use crate::library::{Library, Run};
use crate::live::Feeds;
use crate::pages::Frame;
use crate::serve::Asked;

/// Answers that are worked on at the same time.
const MOST_AT_WORK: usize = 8;
/// Pages that listen to runs at the same time.
const MOST_LISTENERS: usize = 64;

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) library: Library,
    pub(crate) feeds: Feeds,
    pub(crate) clock: Arc<dyn Clock>,
    /// What a page must show to change anything.
    pub(crate) token: Secret,
    pub(crate) stop: CancellationToken,
    pub(crate) listeners: Arc<Semaphore>,
    at_work: Arc<Semaphore>,
}

impl App {
    pub(crate) fn new(library: Library, stop: CancellationToken) -> Result<Self, ViewerError> {
        Ok(Self {
            library,
            feeds: Feeds::default(),
            clock: Arc::new(SystemClock::default()),
            token: Secret::random()?,
            stop,
            listeners: Arc::new(Semaphore::new(MOST_LISTENERS)),
            at_work: Arc::new(Semaphore::new(MOST_AT_WORK)),
        })
    }

    pub(crate) fn frame(&self) -> Frame {
        Frame::served(self.token.reveal())
    }

    /// The run that the address names.
    pub(crate) fn run(&self, asked: &Asked) -> Result<Arc<Run>, ViewerError> {
        self.library.run(asked.part("run")?)
    }

    /// Runs something that reads files.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ViewerError> + Send + 'static,
    ) -> Result<T, ViewerError> {
        let gone = |_| ViewerError::Internal("the viewer is ending".to_owned());
        let place = Arc::clone(&self.at_work)
            .acquire_owned()
            .await
            .map_err(gone)?;
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&app)
        });
        done.await.map_err(|error| {
            ViewerError::Internal(format!("an answer could not be made: {error}"))
        })?
    }
}
