//! Pictures of a run as they are stored, small ones of them, and the files that pages are made of. A blob is
//! sent only if it still is what its name says, so that a link in a run folder of others leads nowhere else.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use agon_core::Digest;
use agon_core::digest::Hasher;
use agon_store::RunFolder;
use axum::body::{Body, Bytes};
use futures_util::stream;
use rustix::fs::OFlags;
use tokio::io::AsyncReadExt;

use super::app::App;
use super::routes::Handler;
use super::{Asked, Reply};
use crate::error::ViewerError;
use crate::{assets, thumbs};

pub(crate) const PICTURES: &[(&str, Handler)] = &[
    ("/runs/{run}/blobs/{digest}", blob),
    ("/runs/{run}/thumbs/{digest}", thumb),
    ("/assets/{digest}/{name}", asset),
];

/// No picture of a screen is larger; whatever is, is sent piece by piece.
const LARGEST_PICTURE: u64 = 16 << 20;
/// Bytes that are read at a time.
const PIECE: usize = 128 << 10;

fn blob(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let digest = asked.digest()?;
    read(run.folder(), &digest)
}

fn thumb(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let thumb = thumbs::thumb(app.library.cache(), run.folder(), &asked.digest()?)?;
    Ok(Reply::Fixed {
        content_type: thumb.content_type,
        bytes: thumb.bytes,
    })
}

fn asset(_: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let (digest, name) = (asked.part("digest")?, asked.part("name")?);
    let asset = assets::find(digest, name).ok_or_else(|| {
        ViewerError::NotFound("this page is of another version: load it anew".to_owned())
    })?;
    Ok(Reply::Fixed {
        content_type: asset.content_type(),
        bytes: asset.bytes.to_vec(),
    })
}

/// The bytes of a picture; `None` of what is no picture, not there, or too large for one.
pub(crate) fn stored(folder: &RunFolder, digest: &Digest) -> Option<Vec<u8>> {
    match read(folder, digest) {
        Ok(Reply::Fixed { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

fn read(folder: &RunFolder, digest: &Digest) -> Result<Reply, ViewerError> {
    let path = folder.blob(digest);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            ViewerError::NotFound(format!("the run folder holds no blob {digest}"))
        }
        _ => ViewerError::io("can't read", &path)(error),
    };
    // A pipe or a device would never end, or begin.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags).unwrap_or_default())
        .open(&path)
        .map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(ViewerError::NotFound(format!("blob {digest} is no file")));
    }
    if found.len() > LARGEST_PICTURE {
        return large(file, digest).map_err(failed);
    }
    let mut bytes = Vec::new();
    let most = LARGEST_PICTURE + 1;
    file.by_ref()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if Digest::of(&bytes) != *digest {
        return Err(failed(changed()));
    }
    Ok(match picture_type(&bytes) {
        Some(content_type) => Reply::Fixed {
            content_type,
            bytes,
        },
        None => Reply::File(Body::from(bytes)),
    })
}

/// Looked through once before the first byte is sent, then read again.
fn large(mut file: File, digest: &Digest) -> io::Result<Reply> {
    let mut hasher = Hasher::default();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    if hasher.finish() != *digest {
        return Err(changed());
    }
    file.seek(SeekFrom::Start(0))?;
    let pieces = stream::try_unfold(tokio::fs::File::from_std(file), |mut file| async move {
        let mut piece = vec![0; PIECE];
        let count = file.read(&mut piece).await?;
        piece.truncate(count);
        Ok::<_, io::Error>((count > 0).then(|| (Bytes::from(piece), file)))
    });
    Ok(Reply::File(Body::from_stream(pieces)))
}

fn changed() -> io::Error {
    io::Error::other("its content has changed since it was stored")
}

/// What a browser may show, told by its first bytes: names and other files say nothing.
fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn stored(content: &[u8]) -> (tempfile::TempDir, RunFolder, Digest) {
        let root = tempfile::tempdir().unwrap();
        let folder = RunFolder::at(root.path());
        let digest = Digest::of(content);
        let path = folder.blob(&digest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        (root, folder, digest)
    }

    #[test]
    fn only_pictures_are_shown() {
        let (_root, folder, digest) = stored(b"\x89PNG\r\n\x1a\nrest");
        let reply = read(&folder, &digest).unwrap();
        assert!(matches!(
            reply,
            Reply::Fixed {
                content_type: "image/png",
                ..
            }
        ));
        for content in [
            &b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..],
            b"<html>",
            b"",
        ] {
            let (_root, folder, digest) = stored(content);
            assert!(matches!(read(&folder, &digest).unwrap(), Reply::File(_)));
        }
    }

    #[test]
    fn what_is_not_what_its_name_says_is_not_sent() {
        let (_root, folder, digest) = stored(b"a picture");
        fs::write(folder.blob(&digest), b"another").unwrap();
        let error = read(&folder, &digest).unwrap_err();
        assert!(error.to_string().contains("changed"), "{error}");
    }

    #[test]
    fn links_and_pipes_are_not_followed() {
        let (root, folder, digest) = stored(b"a picture");
        let path = folder.blob(&digest);
        let elsewhere = root.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(read(&folder, &digest).is_err());
        fs::remove_file(&path).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(matches!(
            read(&folder, &digest),
            Err(ViewerError::NotFound(_))
        ));
    }
}
