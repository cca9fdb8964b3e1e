//! Windows that come, go, get another title or become active, as the window manager tells of them on
//! the root. Says nothing where there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use x11rb::protocol::Event as XEvent;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropertyNotifyEvent,
};

use super::event::{Event, WindowEvent, WindowEventKind};
use super::watch::Arrived;
use crate::error::DesktopError;
use crate::windows::{WindowInfo, active, describe, stacked};
use crate::x11::XConnection;

#[derive(Debug)]
pub(super) struct WindowEvents {
    /// As last seen. As many as are looked at, at most.
    windows: BTreeMap<u32, WindowInfo>,
    active: Option<u32>,
}

/// What a batch of events says has changed, and when that came.
#[derive(Default)]
struct Changes {
    list: Option<Duration>,
    active: Option<Duration>,
    titles: BTreeMap<u32, Duration>,
}

impl WindowEvents {
    pub(super) fn select(x: &XConnection) -> Result<Self, DesktopError> {
        select(x, x.root())?;
        let mut events = Self {
            windows: BTreeMap::new(),
            active: active(x)?,
        };
        events.add_new(x, &stacked(x)?)?;
        Ok(events)
    }

    pub(super) fn read(
        &mut self,
        x: &XConnection,
        batch: &[Arrived],
        events: &mut Vec<Event>,
    ) -> Result<(), DesktopError> {
        let mut changes = Changes::default();
        for one in batch {
            if let XEvent::PropertyNotify(event) = &one.event {
                changes.note(x, one.t, event);
            }
        }
        let mut tell = |t, kind, window| {
            events.push(Event::Window(WindowEvent { t, kind, window }));
        };
        if let Some(t) = changes.list {
            let ids = stacked(x)?;
            for window in self.add_new(x, &ids)? {
                // Its title was read after it was listened to.
                changes.titles.remove(&window.id);
                tell(t, WindowEventKind::Created, Some(window));
            }
            for window in self.remove_old(&ids) {
                tell(t, WindowEventKind::Closed, Some(window));
            }
        }
        let renamed: Vec<u32> = changes.titles.keys().copied().collect();
        for window in describe(x, &renamed)? {
            let t = changes.titles.get(&window.id).copied();
            let known = self.windows.get_mut(&window.id);
            if let (Some(known), Some(t)) = (known, t)
                && known.title != window.title
            {
                known.clone_from(&window);
                tell(t, WindowEventKind::Title, Some(window));
            }
        }
        if let Some(t) = changes.active {
            let now = active(x)?;
            if now != self.active {
                self.active = now;
                let window = describe(x, now.as_slice())?.pop();
                tell(t, WindowEventKind::Focus, window);
            }
        }
        Ok(())
    }

    /// Takes in those of `ids` that are not known yet.
    fn add_new(&mut self, x: &XConnection, ids: &[u32]) -> Result<Vec<WindowInfo>, DesktopError> {
        let is_new = |id: &u32| !self.windows.contains_key(id);
        let new: Vec<u32> = ids.iter().copied().filter(is_new).collect();
        for &id in &new {
            select(x, id)?;
        }
        let new = describe(x, &new)?;
        let by_id = new.iter().map(|window| (window.id, window.clone()));
        self.windows.extend(by_id);
        Ok(new)
    }

    /// Takes out those that are not among `ids`.
    fn remove_old(&mut self, ids: &[u32]) -> Vec<WindowInfo> {
        let ids: BTreeSet<u32> = ids.iter().copied().collect();
        let gone = self.windows.extract_if(.., |id, _| !ids.contains(id));
        gone.map(|(_, window)| window).collect()
    }
}

impl Changes {
    fn note(&mut self, x: &XConnection, t: Duration, event: &PropertyNotifyEvent) {
        let (atoms, name) = (x.atoms(), event.atom);
        if event.window != x.root() {
            if name == atoms._NET_WM_NAME || name == u32::from(AtomEnum::WM_NAME) {
                self.titles.insert(event.window, t);
            }
        } else if name == atoms._NET_ACTIVE_WINDOW {
            self.active = Some(t);
        } else if name == atoms._NET_CLIENT_LIST || name == atoms._NET_CLIENT_LIST_STACKING {
            self.list = Some(t);
        }
    }
}

/// A window that is gone by now is no mistake: the server's error is one more event.
fn select(x: &XConnection, window: u32) -> Result<(), DesktopError> {
    let mask = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    x.x().change_window_attributes(window, &mask)?;
    Ok(())
}
