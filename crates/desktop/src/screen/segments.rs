//! Pieces of shared memory that the X server captures into, used again and again: making one costs
//! more than a capture. Knows nothing of what is in them.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use x11rb::connection::Connection;
use x11rb::protocol::shm::{ConnectionExt as _, Seg};

use crate::error::DesktopError;
use crate::x11::{SharedMemory, XConnection};

/// How many wait for the next capture; more of them are given back to the system.
const IDLE: usize = 1;

#[derive(Debug)]
struct Segment {
    id: Seg,
    memory: SharedMemory,
}

/// The segments of one connection.
#[derive(Debug)]
pub(super) struct Segments {
    /// Frames may outlive their connection; with it the server's side of a segment ends.
    x: Weak<XConnection>,
    kept: Mutex<Kept>,
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    idle: Vec<Segment>,
    leased: usize,
}

impl Segments {
    /// With `most` leases about, frames ought to be copied: [`Segments::are_scarce`].
    pub(super) fn new(x: &Arc<XConnection>, most: usize) -> Arc<Self> {
        Arc::new(Self {
            x: Arc::downgrade(x),
            kept: Mutex::default(),
            most,
        })
    }

    /// Memory of at least `len` bytes that nobody else has.
    pub(super) fn take(self: &Arc<Self>, len: usize) -> Result<Lease, DesktopError> {
        let found = {
            let mut kept = self.kept();
            kept.leased += 1;
            kept.idle.pop()
        };
        // Counted from here on, so that every way out of here counts back.
        let mut lease = Lease {
            segment: found,
            home: Arc::clone(self),
        };
        let fits = lease
            .segment
            .as_ref()
            .is_some_and(|s| s.memory.len() >= len);
        if !fits {
            if let Some(small) = lease.segment.take() {
                self.discard(&small);
            }
            lease.segment = Some(self.make(len)?);
        }
        Ok(lease)
    }

    pub(super) fn are_scarce(&self) -> bool {
        self.kept().leased > self.most
    }

    fn make(&self, len: usize) -> Result<Segment, DesktopError> {
        let x = self.x.upgrade().ok_or_else(closed)?;
        let failed = |error| DesktopError::io("can't make shared memory for a frame")(error);
        let memory = SharedMemory::new(len).map_err(failed)?;
        let id = x.x().generate_id()?;
        let descriptor = memory.descriptor().map_err(failed)?;
        x.x().shm_attach_fd(id, descriptor, false)?.check()?;
        Ok(Segment { id, memory })
    }

    fn give_back(&self, segment: Option<Segment>) {
        let spare = {
            let mut kept = self.kept();
            kept.leased = kept.leased.saturating_sub(1);
            match segment {
                Some(segment) if kept.idle.len() < IDLE => {
                    kept.idle.push(segment);
                    None
                }
                other => other,
            }
        };
        if let Some(spare) = spare {
            self.discard(&spare);
        }
    }

    fn discard(&self, segment: &Segment) {
        if let Some(x) = self.x.upgrade() {
            // A server that does not hear this is gone, and the segment with it.
            let _ = x.x().shm_detach(segment.id);
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> DesktopError {
    DesktopError::Gone("its connection was closed".to_owned())
}

/// One segment in use; it goes back when this is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    segment: Option<Segment>,
    home: Arc<Segments>,
}

impl Lease {
    pub(super) fn id(&self) -> Seg {
        self.segment.as_ref().map_or(x11rb::NONE, |s| s.id)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.segment.as_ref().map_or(&[], |s| s.memory.bytes())
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.segment {
            Some(segment) => segment.memory.bytes_mut(),
            None => &mut [],
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.home.give_back(self.segment.take());
    }
}
