//! A key that stops everything: whoever has the focus, and whatever has grabbed the keyboard.

use std::sync::Arc;

use agon_core::InputKind;

use super::event::Event;
use super::listener::ListenConfig;
use super::stop::StopSignal;
use super::watch::Watch;
use super::work::ListenerHandle;
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::key::Key;

/// Watches for its key until it is dropped.
#[derive(Debug)]
pub struct PanicKey {
    signal: Arc<StopSignal>,
    handle: ListenerHandle,
}

impl PanicKey {
    pub const DEFAULT: Key = Key::F10;

    /// Sets `signal` when the key is pressed.
    pub fn watch(
        desktop: &Desktop,
        key: Key,
        signal: Arc<StopSignal>,
    ) -> Result<Self, DesktopError> {
        let watch = Watch::open(desktop.address(), &ListenConfig::keyboard())?;
        if !watch.has(key) {
            return Err(DesktopError::Invalid(format!(
                "no key of this desktop's keyboard is {key} without Shift: choose one such as F10"
            )));
        }
        let name = key.name();
        let set = Arc::clone(&signal);
        let handle = ListenerHandle::start("agon-panic-key", watch, move |event| {
            if let Event::Input(event) = event
                && event.kind == InputKind::KeyPress
                && event.key.as_deref() == Some(&*name)
            {
                set.set();
            }
        })?;
        Ok(Self { signal, handle })
    }

    pub const fn signal(&self) -> &Arc<StopSignal> {
        &self.signal
    }

    /// To ask whether it is alive: a dead one stops nothing.
    pub const fn handle(&self) -> &ListenerHandle {
        &self.handle
    }
}

impl Desktop {
    /// Watches for a key with a signal of its own.
    pub fn panic_key(&self, key: Key) -> Result<PanicKey, DesktopError> {
        PanicKey::watch(self, key, Arc::default())
    }
}
