//! The connections that belong together: cut at once, and none is made after that.

use std::sync::{Mutex, PoisonError};

use super::connection::XConnection;
use super::stream::LooseScissors;
use crate::address::DisplayAddress;
use crate::error::DesktopError;

/// Every further connection that acts for a desktop is made here.
#[derive(Debug)]
pub(crate) struct Lines {
    /// `None` when they are cut. Those that have ended are forgotten in time.
    open: Mutex<Option<Vec<LooseScissors>>>,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            open: Mutex::new(Some(Vec::new())),
        }
    }
}

impl Lines {
    pub(crate) fn open(&self, address: &DisplayAddress) -> Result<XConnection, DesktopError> {
        let connection = XConnection::open(address)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *open {
            Some(open) => {
                open.retain(|line| !line.is_useless());
                open.push(connection.scissors().loose());
                Ok(connection)
            }
            // It may have been made while they were cut.
            None => Err(DesktopError::Gone("its user was cut off".to_owned())),
        }
    }

    pub(crate) fn cut(&self) {
        let open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        for line in open.into_iter().flatten() {
            line.cut();
        }
    }
}
