//! Blobs of a run folder: opened without believing what stands there. Knows nothing of how they are shown.

use std::fs::File;
use std::io::{self, Read};

use agon_core::Digest;
use agon_store::{RunFolder, open_plain};

use crate::error::ViewerError;

/// The file of a blob and its length. A link leads nowhere; a pipe or a device would never end, or begin.
pub(crate) fn open(folder: &RunFolder, blob: &Digest) -> Result<(File, u64), ViewerError> {
    let path = folder.blob(blob);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            ViewerError::NotFound(format!("the run folder holds no blob {blob}"))
        }
        io::ErrorKind::Other => {
            ViewerError::NotFound(format!("what stands for blob {blob} is not sent: {error}"))
        }
        _ => ViewerError::io("can't read", &path)(error),
    };
    let file = open_plain(&path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    Ok((file, length))
}

/// The whole of it, `length` bytes long, if it still is what its name says.
pub(crate) fn whole(
    folder: &RunFolder,
    blob: &Digest,
    file: &File,
    length: u64,
) -> Result<Vec<u8>, ViewerError> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length)
        .read_to_end(&mut bytes)
        .map_err(ViewerError::io("can't read", folder.blob(blob)))?;
    match Digest::of(&bytes) == *blob {
        true => Ok(bytes),
        false => Err(changed(blob)),
    }
}

/// Whatever it is now, it is not what was recorded.
pub(crate) fn changed(blob: &Digest) -> ViewerError {
    ViewerError::NotFound(format!(
        "the content of blob {blob} has changed since it was stored"
    ))
}

/// What a browser may show, told by its first bytes: names and other files say nothing.
pub(crate) fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else {
        None
    }
}
