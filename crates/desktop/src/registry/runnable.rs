//! Runnables by name: things that run in a thread of their own and answer while they do.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::args::Args;
use super::context::Context;
use super::runnables;
use super::running::Running;
use super::shelf::{Described, Registry};
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::listen::StopSignal;
use crate::screen::Frame;

/// `RUNNABLES.configure("screen_capture", ())?.start()?.grab()?`
pub static RUNNABLES: LazyLock<Registry<RunnableKind>> = LazyLock::new(|| {
    let registry = Registry::new("runnable");
    runnables::put(&registry);
    registry
});

/// What runs: `run` in a thread of its own, the others from any thread meanwhile.
pub trait Run: Send + Sync + 'static {
    fn run(&self, stop: &StopSignal) -> Result<(), DesktopError>;

    /// Called when the signal was set: wakes a `run` that waits for something else.
    fn wake(&self) {}

    /// A method by name, for users of other languages.
    fn call(&self, method: &str, args: Value) -> Result<Value, DesktopError> {
        let _ = args;
        Err(DesktopError::Invalid(format!(
            "it has no method `{method}`"
        )))
    }

    /// A picture that is not older than this call.
    fn grab(&self) -> Result<Arc<Frame>, DesktopError> {
        Err(DesktopError::Invalid(
            "it has no pictures to grab".to_owned(),
        ))
    }
}

type Configure = dyn Fn(&Context, Args, &str) -> Result<Arc<dyn Run>, DesktopError> + Send + Sync;

/// One kind of runnable, from which any number is made.
#[derive(Clone)]
pub struct RunnableKind {
    parameters: &'static str,
    about: &'static str,
    configure: Arc<Configure>,
}

impl RunnableKind {
    pub fn new<A, F>(configure: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(&Context, A) -> Result<Arc<dyn Run>, DesktopError> + Send + Sync + 'static,
    {
        Self::described("...", "", configure)
    }

    pub fn described<A, F>(parameters: &'static str, about: &'static str, configure: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(&Context, A) -> Result<Arc<dyn Run>, DesktopError> + Send + Sync + 'static,
    {
        let configure = move |context: &Context, args: Args, name: &str| {
            configure(context, args.read(name, parameters)?)
        };
        Self {
            parameters,
            about,
            configure: Arc::new(configure),
        }
    }
}

impl Registry<RunnableKind> {
    /// Adds a kind of runnable under `namespace/name`.
    pub fn register<A, F>(&self, name: &str, configure: F) -> Result<(), DesktopError>
    where
        A: DeserializeOwned,
        F: Fn(&Context, A) -> Result<Arc<dyn Run>, DesktopError> + Send + Sync + 'static,
    {
        self.add(name, RunnableKind::new(configure))
    }

    /// A runnable on the [current desktop](super::current_desktop).
    pub fn configure(&self, name: &str, config: impl Into<Args>) -> Result<Runnable, DesktopError> {
        self.make(&Context::default(), name, config.into())
    }

    /// A runnable on the given desktop.
    pub fn configure_on(
        &self,
        desktop: &Arc<Desktop>,
        name: &str,
        config: impl Into<Args>,
    ) -> Result<Runnable, DesktopError> {
        self.make(&Context::of(desktop), name, config.into())
    }

    fn make(&self, context: &Context, name: &str, config: Args) -> Result<Runnable, DesktopError> {
        let (full, kind) = self.find(name)?;
        let run = (kind.configure)(context, config, name)?;
        Ok(Runnable { name: full, run })
    }
}

/// A runnable that was not started yet.
pub struct Runnable {
    name: String,
    run: Arc<dyn Run>,
}

impl Runnable {
    pub fn start(self) -> Result<Started, DesktopError> {
        let run = Arc::clone(&self.run);
        let sleeping = Arc::clone(&self.run);
        let wake = Box::new(move || sleeping.wake());
        let running = Running::start_woken(&self.name, wake, move |stop| run.run(stop))?;
        Ok(Started {
            run: self.run,
            running,
        })
    }
}

/// A runnable that runs. Stopped when dropped.
pub struct Started {
    run: Arc<dyn Run>,
    running: Running,
}

impl Started {
    /// Waits at most a second for a picture that is not older than this call.
    pub fn grab(&self) -> Result<Arc<Frame>, DesktopError> {
        self.run.grab()
    }

    pub fn call(&self, method: &str, args: Value) -> Result<Value, DesktopError> {
        self.run.call(method, args)
    }

    /// Asks it to end, and does not wait.
    pub fn stop(&self) {
        self.running.stop();
    }

    pub fn is_alive(&self) -> bool {
        self.running.is_alive()
    }

    /// Waits for its end; an error if it failed, or did not end within that time.
    pub fn join(self, within: Duration) -> Result<(), DesktopError> {
        self.running.join(within)
    }
}

impl Described for RunnableKind {
    fn parameters(&self) -> &str {
        self.parameters
    }

    fn about(&self) -> &str {
        self.about
    }
}

impl fmt::Debug for RunnableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunnableKind({})", self.parameters)
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runnable({})", self.name)
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Started({:?})", self.running)
    }
}
