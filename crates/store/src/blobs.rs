//! Content kept by its hash: the same bytes are stored once per run, however often they occur.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::sync::Arc;

use agon_core::Digest;
use agon_core::digest::Hasher;
use tempfile::NamedTempFile;

use crate::folder::{RunFolder, unfinished_file};
use crate::plain_file::open_plain;
use crate::sync::Syncer;

/// What became of content that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    As {
        digest: Digest,
        bytes: u64,
    },
    /// Over the size cap: nothing was kept.
    TooLarge,
}

/// Writes to a file and hashes what passes.
struct Hashing<W> {
    inner: W,
    hasher: Hasher,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Stores `content` compressed (zstd). The digest names the stored bytes, so that a blob can be
/// verified without unpacking it. Content of more than `cap` bytes is not kept.
pub(crate) fn put_compressed(
    folder: &RunFolder,
    sync: &Syncer,
    content: &mut dyn Read,
    cap: u64,
) -> io::Result<Stored> {
    let blobs = folder.blobs();
    fs::create_dir_all(&blobs)?;
    let temporary = unfinished_file(&blobs)?;
    let hashing = Hashing {
        inner: temporary,
        hasher: Hasher::default(),
        bytes: 0,
    };
    let mut encoder = zstd::Encoder::new(hashing, 1)?;
    let read = io::copy(&mut content.take(cap.saturating_add(1)), &mut encoder)?;
    if read > cap {
        return Ok(Stored::TooLarge);
    }
    let Hashing {
        inner: temporary,
        hasher,
        bytes,
    } = encoder.finish()?;
    let digest = hasher.finish();
    if !folder.blob(&digest).exists() {
        place(folder, sync, &digest, temporary)?;
    }
    Ok(Stored::As { digest, bytes })
}

/// Stores content that is compressed already, such as a picture, as it is. `digest` is its own.
pub(crate) fn put_plain(
    folder: &RunFolder,
    sync: &Syncer,
    digest: &Digest,
    content: &[u8],
) -> io::Result<()> {
    if folder.blob(digest).exists() {
        return Ok(());
    }
    let blobs = folder.blobs();
    fs::create_dir_all(&blobs)?;
    let mut temporary = unfinished_file(&blobs)?;
    temporary.write_all(content)?;
    place(folder, sync, digest, temporary)
}

/// Gives a finished file its name.
fn place(
    folder: &RunFolder,
    sync: &Syncer,
    digest: &Digest,
    temporary: NamedTempFile,
) -> io::Result<()> {
    let target = folder.blob(digest);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let file = temporary.persist(&target).map_err(|failed| failed.error)?;
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    sync.soon(&Arc::new(file))?;
    if let Some(parent) = target.parent() {
        sync.soon(&Arc::new(File::open(parent)?))?;
    }
    Ok(())
}

/// Said of a blob that is not what its name says.
pub(crate) const CHANGED: &str = "its content has changed since it was stored";

/// Whether a blob still is what its name says.
pub(crate) fn verify(folder: &RunFolder, digest: &Digest) -> io::Result<()> {
    let mut hashing = Hashing {
        inner: io::sink(),
        hasher: Hasher::default(),
        bytes: 0,
    };
    io::copy(&mut open_plain(&folder.blob(digest))?, &mut hashing)?;
    if hashing.hasher.finish() == *digest {
        Ok(())
    } else {
        Err(io::Error::other(CHANGED))
    }
}

/// Opens a compressed blob for reading its content.
pub fn open_compressed(folder: &RunFolder, digest: &Digest) -> io::Result<impl Read + use<>> {
    zstd::Decoder::new(open_plain(&folder.blob(digest))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_content_is_stored_once_and_comes_back() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let sync = Syncer::start().unwrap();
        let content = b"evidence ".repeat(1000);
        let one = put_compressed(&folder, &sync, &mut content.as_slice(), 1 << 20).unwrap();
        let two = put_compressed(&folder, &sync, &mut content.as_slice(), 1 << 20).unwrap();
        assert_eq!(one, two);
        let Stored::As { digest, bytes } = one else {
            panic!("not stored")
        };
        let stored = fs::read(folder.blob(&digest)).unwrap();
        assert_eq!(stored.len() as u64, bytes);
        assert_eq!(Digest::of(&stored), digest);
        let mut back = Vec::new();
        open_compressed(&folder, &digest)
            .unwrap()
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, content);
    }

    #[test]
    fn plain_content_is_found_under_its_own_digest() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let sync = Syncer::start().unwrap();
        let digest = Digest::of(b"a picture");
        for _ in 0..2 {
            put_plain(&folder, &sync, &digest, b"a picture").unwrap();
        }
        assert_eq!(fs::read(folder.blob(&digest)).unwrap(), b"a picture");
        verify(&folder, &digest).unwrap();
        assert_eq!(fs::read_dir(folder.blobs()).unwrap().count(), 1);
    }

    #[test]
    fn content_over_the_cap_leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let sync = Syncer::start().unwrap();
        let stored = put_compressed(&folder, &sync, &mut [7; 100].as_slice(), 99).unwrap();
        assert_eq!(stored, Stored::TooLarge);
        assert_eq!(fs::read_dir(root.path().join("blobs")).unwrap().count(), 0);
    }
}
