//! What keyboard and mouse of one desktop share: the connection that input goes through, and the
//! record of what is held. Whatever is held is released when the seat is dropped.

use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::board::Board;
use super::held::Held;
use super::repeat::Repeat;
use crate::error::DesktopError;
use crate::x11::{XConnection, ready};

#[derive(Debug)]
pub(crate) struct Seat {
    x: Arc<XConnection>,
    held: Held,
    repeat: Repeat,
    /// Looked at when the first key is pressed. Locked while keys are sent: texts of two threads
    /// come one after the other.
    board: Mutex<Option<Board>>,
}

impl Seat {
    pub(crate) fn new(x: Arc<XConnection>) -> Self {
        Self {
            x,
            held: Held::default(),
            repeat: Repeat::default(),
            board: Mutex::new(None),
        }
    }

    /// All input goes through this one connection, so that it keeps its order.
    pub(crate) fn x(&self) -> &XConnection {
        &self.x
    }

    pub(crate) fn held(&self) -> &Held {
        &self.held
    }

    /// Releases everything, and presses nothing any more. Comes back when the server has done so.
    pub(crate) fn close(&self) {
        // A server that is gone has no keys down.
        let _ = self.held.close(&self.x);
        // Who types just now has the board; his codes stay lent.
        if let Ok(board) = self.board.try_lock()
            && let Some(board) = board.as_ref()
        {
            board.give_back(&self.x);
        }
        let _ = self.x.sync();
    }

    /// Waits while a key or button is held.
    pub(super) fn hold(&self, hold: Duration) -> Result<(), DesktopError> {
        if hold.is_zero() {
            return Ok(());
        }
        // What was pressed is pressed now, and not with its release.
        self.x.flush()?;
        // Ends early only with the connection.
        ready(
            self.x.x().stream().as_fd(),
            PollFlags::empty(),
            Instant::now() + hold,
        )
        .map_err(DesktopError::io("can't wait while a key is held"))?;
        Ok(())
    }

    pub(super) fn repeat(&self) -> &Repeat {
        &self.repeat
    }

    pub(super) fn board(&self) -> MutexGuard<'_, Option<Board>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut touched = !self.held.is_empty();
        // A server that is gone has no keys down.
        let _ = self.held.release_all(&self.x);
        let board = self.board.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(board) = board.as_mut() {
            touched |= board.restore(&self.x);
        }
        if touched {
            // Not only sent: the server forgets what a closed connection has not said to the end.
            let _ = self.x.sync();
        }
    }
}
