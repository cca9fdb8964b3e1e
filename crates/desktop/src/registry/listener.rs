//! Listeners by name: configured with JSON, started with a callback that is called in a thread of
//! theirs.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;

use super::args::Args;
use super::context::Context;
use super::listeners;
use super::message::Message;
use super::running::Running;
use super::shelf::{Described, Registry};
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::listen::{ListenerHandle, StopSignal};

/// `LISTENERS.configure("keyboard", ())?.start(|event| ...)?`
pub static LISTENERS: LazyLock<Registry<ListenerKind>> = LazyLock::new(|| {
    let registry = Registry::new("listener");
    listeners::put(&registry);
    registry
});

pub(super) type Callback = Box<dyn FnMut(Message) + Send>;

/// A listener that knows what to listen to.
pub struct Listen(Box<Start>);

/// Gets the listener's name and whom to tell.
type Start = dyn FnOnce(&str, Callback) -> Result<Running, DesktopError> + Send;

impl Listen {
    /// Listens in a thread of its own until the signal is set, and tells what it hears.
    pub fn new(
        listen: impl FnOnce(&StopSignal, &mut dyn FnMut(Message)) -> Result<(), DesktopError>
        + Send
        + 'static,
    ) -> Self {
        Self(Box::new(move |name, mut callback| {
            Running::start(name, move |stop| listen(stop, &mut callback))
        }))
    }

    /// For those that bring their thread.
    pub(super) fn with(
        start: impl FnOnce(Callback) -> Result<ListenerHandle, DesktopError> + Send + 'static,
    ) -> Self {
        Self(Box::new(move |name, callback| {
            Ok(Running::listener(name, start(callback)?))
        }))
    }
}

type Configure = dyn Fn(&Context, Args, &str) -> Result<Listen, DesktopError> + Send + Sync;

/// One kind of listener, from which any number is made.
#[derive(Clone)]
pub struct ListenerKind {
    parameters: &'static str,
    about: &'static str,
    configure: Arc<Configure>,
}

impl ListenerKind {
    /// `configure` reads the configuration and says how to listen.
    pub fn new<A, F>(configure: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(&Context, A) -> Result<Listen, DesktopError> + Send + Sync + 'static,
    {
        Self::described("...", "", configure)
    }

    pub fn described<A, F>(parameters: &'static str, about: &'static str, configure: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(&Context, A) -> Result<Listen, DesktopError> + Send + Sync + 'static,
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

impl Registry<ListenerKind> {
    /// Adds a kind of listener under `namespace/name`.
    pub fn register<A, F>(&self, name: &str, configure: F) -> Result<(), DesktopError>
    where
        A: DeserializeOwned,
        F: Fn(&Context, A) -> Result<Listen, DesktopError> + Send + Sync + 'static,
    {
        self.add(name, ListenerKind::new(configure))
    }

    /// A listener on the [current desktop](super::current_desktop).
    pub fn configure(
        &self,
        name: &str,
        config: impl Into<Args>,
    ) -> Result<Configured, DesktopError> {
        self.make(&Context::default(), name, config.into())
    }

    /// A listener on the given desktop.
    pub fn configure_on(
        &self,
        desktop: &Arc<Desktop>,
        name: &str,
        config: impl Into<Args>,
    ) -> Result<Configured, DesktopError> {
        self.make(&Context::of(desktop), name, config.into())
    }

    fn make(
        &self,
        context: &Context,
        name: &str,
        config: Args,
    ) -> Result<Configured, DesktopError> {
        let (full, kind) = self.find(name)?;
        let listen = (kind.configure)(context, config, name)?;
        Ok(Configured { name: full, listen })
    }
}

/// A listener that was not started yet.
pub struct Configured {
    name: String,
    listen: Listen,
}

impl Configured {
    /// Calls back with every message, from a thread of its own, until it is stopped or dropped.
    pub fn start(
        self,
        callback: impl FnMut(Message) + Send + 'static,
    ) -> Result<Running, DesktopError> {
        (self.listen.0)(&self.name, Box::new(callback))
    }
}

impl Described for ListenerKind {
    fn parameters(&self) -> &str {
        self.parameters
    }

    fn about(&self) -> &str {
        self.about
    }
}

impl fmt::Debug for ListenerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListenerKind({})", self.parameters)
    }
}

impl fmt::Debug for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listen")
    }
}

impl fmt::Debug for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Configured({})", self.name)
    }
}
