//! Where a display is found: a socket in a folder with its cookie, or what `$DISPLAY` says.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use crate::authority::Cookie;
use crate::error::DesktopError;
use crate::x11::PATIENCE;

#[derive(Debug, Clone)]
pub enum DisplayAddress {
    /// A socket, by its own path.
    Socket { path: PathBuf, cookie: Cookie },
    /// A display by name, such as `:1`; its cookie is in the user's authority file.
    Named(String),
}

impl DisplayAddress {
    /// The display of `$DISPLAY`.
    pub fn from_environment() -> Result<Self, DesktopError> {
        match std::env::var("DISPLAY") {
            Ok(name) if !name.is_empty() => Ok(Self::Named(name)),
            _ => Err(DesktopError::Missing(
                "there is no display: DISPLAY is not set; start a desktop with `agon desktop \
                 start`, or name one with --desktop"
                    .to_owned(),
            )),
        }
    }
}

/// Connects to a socket that may lie in a folder which others write to: a link there could lead
/// to any socket of the host, so none is followed.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("the socket has no name"))?;
    let folder = rustix::fs::openat(
        CWD,
        folder,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let socket = openat2(
        &folder,
        name,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH,
    )?;
    if FileType::from_raw_mode(fstat(&socket)?.st_mode) != FileType::Socket {
        return Err(io::Error::other("it is no socket"));
    }
    connect_in_time(format!("/proc/self/fd/{}", socket.as_raw_fd()).as_bytes())
}

/// A listener whose queue is full would keep us waiting for ever.
pub(crate) fn connect_in_time(path: &[u8]) -> io::Result<UnixStream> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) => Ok(UnixStream::from(socket)),
        Err(Errno::AGAIN) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the X server takes no connections",
        )),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_reached_but_a_link_to_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("X0");
        let _listener = UnixListener::bind(&real).unwrap();
        connect(&real).unwrap();
        let link = folder.path().join("X1");
        symlink(&real, &link).unwrap();
        assert!(connect(&link).is_err());
        let file = folder.path().join("X2");
        std::fs::write(&file, "").unwrap();
        assert!(
            connect(&file)
                .unwrap_err()
                .to_string()
                .contains("no socket")
        );
    }
}
