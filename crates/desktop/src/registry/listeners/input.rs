//! Keyboard, mouse and windows, in the words of `owa`: as they happen, and states at an interval.

use std::sync::{Arc, Mutex, PoisonError};

use agon_core::clock::SystemClock;
use serde::Deserialize;

use super::clock::seconds;
use super::raw_mouse::RawMouse;
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::listen::{Event, ListenConfig, ListenerHandle, WallTime, WindowEventKind};
use crate::registry::args::NoArgs;
use crate::registry::listener::{Callback, Listen, ListenerKind};
use crate::registry::message::Message;
use crate::registry::shelf::Registry;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Interval {
    #[serde(default)]
    interval: Option<f64>,
}

impl Interval {
    fn duration(&self) -> Result<std::time::Duration, DesktopError> {
        self.interval.map_or(Ok(ListenConfig::INTERVAL), seconds)
    }
}

pub(super) fn put(registry: &Registry<ListenerKind>) {
    let put = |name: &str, kind: ListenerKind| {
        registry.put(name, name.strip_prefix("desktop/"), kind);
    };
    let events = |about, config: ListenConfig| {
        ListenerKind::described("", about, move |context, NoArgs {}: NoArgs| {
            Ok(every(context.desktop()?, config.clone()))
        })
    };
    put(
        "desktop/keyboard",
        events("Keys, wherever the focus is.", ListenConfig::keyboard()),
    );
    put(
        "desktop/mouse",
        events("Moves, clicks and scrolls.", ListenConfig::mouse()),
    );
    put(
        "desktop/keyboard_state",
        ListenerKind::described(
            "interval?",
            "What is down, every second unless said.",
            |context, given: Interval| {
                let config = ListenConfig {
                    keyboard_state: Some(given.duration()?),
                    ..ListenConfig::NOTHING
                };
                Ok(every(context.desktop()?, config))
            },
        ),
    );
    put(
        "desktop/mouse_state",
        ListenerKind::described(
            "interval?",
            "Where the pointer is and what is down, every second unless said.",
            |context, given: Interval| {
                let config = ListenConfig {
                    mouse_state: Some(given.duration()?),
                    ..ListenConfig::NOTHING
                };
                Ok(every(context.desktop()?, config))
            },
        ),
    );
    put(
        "desktop/raw_mouse",
        ListenerKind::described(
            "",
            "How far the mouse moved, and its buttons and wheel.",
            |context, NoArgs {}: NoArgs| {
                let desktop = context.desktop()?;
                Ok(Listen::with(move |callback| raw_mouse(&desktop, callback)))
            },
        ),
    );
    put(
        "desktop/window",
        ListenerKind::described(
            "",
            "The active window: the one there is, and each that becomes it.",
            |context, NoArgs {}: NoArgs| {
                let desktop = context.desktop()?;
                Ok(Listen::with(move |callback| {
                    active_window(&desktop, callback)
                }))
            },
        ),
    );
}

fn every(desktop: Arc<Desktop>, config: ListenConfig) -> Listen {
    Listen::with(move |mut callback| {
        let wall = WallTime::of(&SystemClock::default());
        desktop.listen_with(&config, move |event| {
            if let Some(message) = told(event, wall) {
                callback(message);
            }
        })
    })
}

fn told(event: Event, wall: WallTime) -> Option<Message> {
    let body = serde_json::to_value(event.to_owa(Some(wall))?).ok()?;
    Some(Message::of_event(body, event))
}

fn raw_mouse(desktop: &Desktop, mut callback: Callback) -> Result<ListenerHandle, DesktopError> {
    let wall = WallTime::of(&SystemClock::default());
    let mut raw = RawMouse::new(desktop.mouse().position()?);
    desktop.listen_with(&ListenConfig::mouse(), move |event| {
        let Event::Input(input) = &event else {
            return;
        };
        let body = raw.told(input, wall.nanoseconds(input.t));
        if let Some(body) = body {
            callback(Message::of_event(body, event));
        }
    })
}

fn active_window(desktop: &Desktop, callback: Callback) -> Result<ListenerHandle, DesktopError> {
    let wall = WallTime::of(&SystemClock::default());
    let callback = Arc::new(Mutex::new(callback));
    let theirs = Arc::clone(&callback);
    // What happens from now on waits until the window of now has been told.
    let mut callback = callback.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = desktop.listen_with(&ListenConfig::windows(), move |event| {
        let is_focus =
            matches!(&event, Event::Window(window) if window.kind == WindowEventKind::Focus);
        if let Some(message) = is_focus.then(|| told(event, wall)).flatten() {
            let mut callback = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            callback(message);
        }
    })?;
    if let Some(window) = desktop.windows().active()? {
        let body = serde_json::to_value(window.to_owa());
        callback(Message::new(body.unwrap_or_default()));
    }
    Ok(handle)
}
