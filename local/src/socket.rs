//! The private socket: in a folder that nobody else may enter, and for its owner alone.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    #[error("{}: others may enter this folder; make it private with `chmod 700`", .0.display())]
    Open(PathBuf),
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// Removes the socket at the end.
#[derive(Debug)]
pub(crate) struct Socket(PathBuf);

impl Socket {
    pub(crate) fn open(path: &Path) -> Result<(Self, UnixListener), SocketError> {
        let io = |source| SocketError::Io {
            path: path.to_owned(),
            source,
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if std::fs::metadata(folder).map_err(io)?.mode() & 0o077 != 0 {
            return Err(SocketError::Open(folder.to_owned()));
        }
        let listener = UnixListener::bind(path).map_err(io)?;
        let socket = Self(path.to_owned());
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(io)?;
        Ok((socket, listener))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
