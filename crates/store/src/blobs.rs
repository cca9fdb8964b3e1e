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

/// Compression that costs less time than it saves.
const LEVEL: i32 = 1;

/// Content up to this size is compressed in memory: it takes no file to find out that it is there already,
/// and a compressor that knows the size takes a fraction of the memory.
const SMALL: u64 = 1 << 20;

/// Stores `content` compressed (zstd). The digest names the stored bytes, so that a blob can be
/// verified without unpacking it. Content of more than `cap` bytes is not kept.
pub(crate) fn put_compressed(
    folder: &RunFolder,
    sync: &Syncer,
    content: &mut dyn Read,
    cap: u64,
) -> io::Result<Stored> {
    let mut head = Vec::new();
    content
        .take(SMALL.min(cap).saturating_add(1))
        .read_to_end(&mut head)?;
    let read = head.len() as u64;
    if read > cap {
        return Ok(Stored::TooLarge);
    }
    if read > SMALL {
        return put_large(folder, sync, &mut head.chain(content), cap);
    }
    let packed = zstd::bulk::compress(&head, LEVEL)?;
    let digest = Digest::of(&packed);
    put_plain(folder, sync, &digest, &packed)?;
    let bytes = packed.len() as u64;
    Ok(Stored::As { digest, bytes })
}

/// Of content that memory is not spent on.
fn put_large(
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
    let mut encoder = zstd::Encoder::new(hashing, LEVEL)?;
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
        let cap = 2 * SMALL;
        for size in [0, 1, 9_000, SMALL - 1, SMALL, SMALL + 1, cap] {
            let content: Vec<u8> = b"evidence "
                .iter()
                .copied()
                .cycle()
                .take(size as usize)
                .collect();
            let one = put_compressed(&folder, &sync, &mut content.as_slice(), cap).unwrap();
            let two = put_compressed(&folder, &sync, &mut content.as_slice(), cap).unwrap();
            assert_eq!(one, two);
            let Stored::As { digest, bytes } = one else {
                panic!("{size} bytes are not stored")
            };
            let stored = fs::read(folder.blob(&digest)).unwrap();
            assert_eq!(stored.len() as u64, bytes);
            assert_eq!(Digest::of(&stored), digest);
            let mut back = Vec::new();
            let mut packed = open_compressed(&folder, &digest).unwrap();
            packed.read_to_end(&mut back).unwrap();
            assert_eq!(back, content);
        }
        let folders = fs::read_dir(folder.blobs()).unwrap();
        let files = folders.map(|one| fs::read_dir(one.unwrap().path()).unwrap().count());
        assert_eq!(files.sum::<usize>(), 7);
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
        for cap in [99, 2 * SMALL] {
            let mut content = io::repeat(7).take(cap + 1);
            let stored = put_compressed(&folder, &sync, &mut content, cap).unwrap();
            assert_eq!(stored, Stored::TooLarge);
        }
        assert_eq!(fs::read_dir(folder.blobs()).unwrap().count(), 0);
    }
}
