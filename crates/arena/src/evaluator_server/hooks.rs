//! Threads for hooks, which may block, panic or never come back. One that does not come back in time
//! is left behind and can't do harm; only so many may be left.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_desktop::registry::with_desktop;
use tokio::sync::oneshot;

use super::round::Round;
use crate::evaluator::JudgeError;

/// Hooks of earlier tasks that still run; with more of them no task is begun.
const MOST_LEFT: usize = 16;

/// Counts the threads in which a hook may be running.
#[derive(Debug, Clone, Default)]
pub(super) struct Hooks {
    running: Arc<AtomicUsize>,
}

/// What became of a hook.
#[derive(Debug, thiserror::Error)]
pub(super) enum HookError {
    /// It saw that the evaluation is to end.
    #[error("{}", JudgeError::Stopped)]
    Stopped,
    #[error("{0}")]
    Failed(String),
    #[error("panicked: {0}")]
    Panicked(String),
    #[error("took longer than {} s", .0.as_secs_f64())]
    Slow(Duration),
    #[error("no thread could be started: {0}")]
    Thread(io::Error),
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Hooks {
    /// Asked when no task is under way.
    pub(super) fn too_many_left(&self) -> Option<usize> {
        let left = self.running.load(Ordering::Acquire);
        (left >= MOST_LEFT).then_some(left)
    }

    /// A thread of its own, which is counted.
    pub(super) fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.running.fetch_add(1, Ordering::AcqRel);
        let running = Running(Arc::clone(&self.running));
        std::thread::Builder::new()
            .name(format!("agon-{name}"))
            .spawn(move || {
                let _running = running;
                work();
            })
            .map(drop)
    }

    /// Runs a hook and waits for it, at most `within`.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        name: &str,
        within: Duration,
        hook: impl FnOnce() -> Result<T, JudgeError> + Send + 'static,
    ) -> Result<T, HookError> {
        let (tell, told) = oneshot::channel();
        let work = move || {
            // Nobody listens any more when it took too long.
            let _ = tell.send(caught(hook));
        };
        self.spawn(name, work).map_err(HookError::Thread)?;
        match tokio::time::timeout(within, told).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(HookError::Panicked("without a word".to_owned())),
            Err(_) => Err(HookError::Slow(within)),
        }
    }
}

/// Runs a hook here, with panics as errors.
pub(super) fn caught<T>(hook: impl FnOnce() -> Result<T, JudgeError>) -> Result<T, HookError> {
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(JudgeError::Stopped)) => Err(HookError::Stopped),
        Ok(Err(error)) => Err(HookError::Failed(error.to_string())),
        Err(panic) => Err(HookError::Panicked(words(panic.as_ref()))),
    }
}

/// Calls by name act on the judged desktop.
pub(super) fn on_desktop<T>(
    round: &Round,
    hook: impl FnOnce() -> Result<T, JudgeError>,
) -> Result<T, JudgeError> {
    if round.judging.has_display() {
        with_desktop(&round.judging.desktop()?, hook)
    } else {
        hook()
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without words".to_owned())
}
