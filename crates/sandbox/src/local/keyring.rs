//! Session keyrings. Whatever a login gave us (passwords of mounts, tickets, keys of disks) hangs on ours, and
//! everything that we start inherits it: so each sandbox gets a keyring of its own, which holds nothing.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The calling thread, and with it what it starts from now on, has a new and empty session keyring. The
/// process's other threads keep theirs.
pub(super) fn leave() -> io::Result<()> {
    /// The thread that starts sandboxes has left ours already.
    static LEFT: AtomicBool = AtomicBool::new(false);
    match keyutils_raw::keyctl_join_session_keyring(None) {
        Ok(_) => LEFT.store(true, Ordering::Relaxed),
        // No keyrings here, or none for us, and so none for what we start.
        Err(error) if matches!(error.0, libc::ENOSYS | libc::EPERM) => {}
        // As many as a user may have: that of another sandbox will do, since no call reaches it.
        Err(_) if LEFT.load(Ordering::Relaxed) => {}
        Err(error) => return Err(io::Error::from_raw_os_error(error.0)),
    }
    Ok(())
}
