//! Notices that something was drawn, by the server's damage reports. Knows nothing of what was
//! drawn: the pixels may well be the same as before.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::PollFlags;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::Event;
use x11rb::protocol::damage::{self, ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xfixes::{ConnectionExt as _, CursorNotifyMask};
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};

use crate::error::DesktopError;
use crate::x11::{XConnection, ready};

/// Whoever has one reads all events of its connection.
#[derive(Debug)]
pub(super) struct Changes {
    x: Arc<XConnection>,
    damage: Damage,
}

impl Changes {
    /// What is drawn from here on is noticed.
    pub(super) fn begin(x: Arc<XConnection>) -> Result<Self, DesktopError> {
        let c = x.x();
        if c.extension_information(damage::X11_EXTENSION_NAME)?
            .is_none()
        {
            return Err(DesktopError::Unsupported(
                "the X server does not tell of changes: it lacks the DAMAGE extension".to_owned(),
            ));
        }
        c.damage_query_version(1, 1)?.reply()?;
        let damage = c.generate_id()?;
        // Checked before anything else is read: x11rb waits forever for a request without an answer
        // when it has read an event of that request first.
        c.damage_create(damage, x.root(), ReportLevel::NON_EMPTY)?
            .check()?;
        let changes = Self { x, damage };
        // A server begins with the report that all of the screen has changed.
        changes.take()?;
        changes.sync()?;
        changes.take()?;
        Ok(changes)
    }

    /// Moves of the pointer and changes of its picture are changes from here on, too: no damage is
    /// reported for them.
    pub(super) fn with_pointer(&self) -> Result<(), DesktopError> {
        let (c, root) = (self.x.x(), self.x.root());
        let fixes = c.xfixes_query_version(4, 0)?;
        let input = c.xinput_xi_query_version(2, 0)?;
        fixes.reply()?;
        input.reply()?;
        let masters = EventMask {
            deviceid: Device::ALL_MASTER.into(),
            mask: vec![XIEventMask::RAW_MOTION],
        };
        c.xinput_xi_select_events(root, &[masters])?.check()?;
        c.xfixes_select_cursor_input(root, CursorNotifyMask::DISPLAY_CURSOR)?
            .check()?;
        Ok(())
    }

    /// Whether something was drawn since the last time this said so. What is drawn while this is
    /// being asked is told now or the next time: the server tells of the first change after it was
    /// asked to forget the older ones, which happens before any request that follows on this
    /// connection.
    pub(super) fn take(&self) -> Result<bool, DesktopError> {
        let mut drawn = false;
        while let Some(event) = self.x.x().poll_for_event()? {
            drawn |= matches!(
                event,
                Event::DamageNotify(_) | Event::XinputRawMotion(_) | Event::XfixesCursorNotify(_)
            );
        }
        if drawn {
            let c = self.x.x();
            c.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
            self.x.flush()?;
        }
        Ok(drawn)
    }

    /// Waits for a change until `deadline`. When this says that there was none, the server has said
    /// so: one that has stopped is an error.
    pub(super) fn wait(&self, deadline: Instant) -> Result<bool, DesktopError> {
        loop {
            if self.take()? {
                return Ok(true);
            }
            let readable = ready(self.socket(), PollFlags::IN, deadline);
            if !readable.map_err(DesktopError::io("can't wait for the X server"))? {
                self.x.sync()?;
                return self.take();
            }
        }
    }

    /// Waits for nothing but time: between two looks at a screen that never rests.
    pub(super) fn pause(&self, until: Instant) -> Result<(), DesktopError> {
        // Comes back early only when the connection is broken.
        ready(self.socket(), PollFlags::empty(), until)
            .map_err(DesktopError::io("can't wait for the X server"))?;
        Ok(())
    }

    /// For those who wait for more than one thing; [`Changes::take`] comes before waiting.
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.x.x().stream().as_fd()
    }

    pub(super) fn sync(&self) -> Result<(), DesktopError> {
        self.x.sync()
    }
}
