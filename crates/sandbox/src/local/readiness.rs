//! Descriptors of our own, made known to the runtime.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;

#[expect(
    deprecated,
    reason = "unsound only for types that lie about their descriptor, which OwnedFd cannot; its \
              successor is unsafe to call, and this workspace forbids unsafe code"
)]
pub(super) fn register(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(fd)
}
