//! Waiting for windows: something is looked at again whenever the server tells of a change, on a
//! connection of its own, so that its events are nobody else's.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask};

use super::list::{Windows, describe, list, no_such, pick, stacked};
use super::window::WindowInfo;
use crate::error::DesktopError;
use crate::x11::{XConnection, ready};

pub(super) struct Watch {
    x: XConnection,
}

impl Watch {
    pub(super) fn new(x: XConnection) -> Result<Self, DesktopError> {
        let watched = EventMask::PROPERTY_CHANGE | EventMask::SUBSTRUCTURE_NOTIFY;
        let attributes = ChangeWindowAttributesAux::new().event_mask(watched);
        x.x()
            .change_window_attributes(x.root(), &attributes)?
            .check()?;
        Ok(Self { x })
    }

    pub(super) fn x(&self) -> &XConnection {
        &self.x
    }

    /// Looks until something is found; `None` when the deadline passes.
    pub(super) fn until<T>(
        &self,
        deadline: Instant,
        mut look: impl FnMut(&XConnection) -> Result<Option<T>, DesktopError>,
    ) -> Result<Option<T>, DesktopError> {
        loop {
            let found = look(&self.x)?;
            if found.is_some() || !self.changed(deadline)? {
                return Ok(found);
            }
        }
    }

    /// Waits until the server tells of a change; says whether it did.
    fn changed(&self, deadline: Instant) -> Result<bool, DesktopError> {
        loop {
            let mut changed = false;
            // Programs that change things all the time don't hold us beyond the deadline.
            while Instant::now() < deadline && self.x.x().poll_for_event()?.is_some() {
                changed = true;
            }
            if changed {
                return Ok(true);
            }
            let readable = ready(self.x.x().stream().as_fd(), PollFlags::IN, deadline);
            if !readable.map_err(DesktopError::io("can't wait for the X server"))?
                || Instant::now() >= deadline
            {
                return Ok(false);
            }
        }
    }
}

impl Windows<'_> {
    /// Waits for a window with this in its title: one that is there already, one that appears, or
    /// one that changes its title.
    pub fn wait_for(&self, title: &str, within: Duration) -> Result<WindowInfo, DesktopError> {
        let deadline = Instant::now() + within;
        let watch = Watch::new(self.desktop.line()?)?;
        let titles = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let mut watched = HashSet::new();
        let found = watch.until(deadline, |x| {
            let ids = stacked(x)?;
            // First watched, then read: no change is lost in between.
            for &id in ids.iter().filter(|&&id| watched.insert(id)) {
                x.x().change_window_attributes(id, &titles)?;
            }
            Ok(pick(&describe(x, &ids)?, title)?.cloned())
        })?;
        match found {
            Some(window) => Ok(window),
            None => Err(no_such(&list(watch.x())?, title)),
        }
    }
}
