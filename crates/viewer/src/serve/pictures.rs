//! Pictures of a run as they are stored, small ones of them, and the files that pages are made of. A blob is
//! sent only if it still is what its name says, so that a link in a run folder of others leads nowhere else.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use agon_core::Digest;
use agon_core::digest::Hasher;
use agon_store::RunFolder;
use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::io::AsyncReadExt;

use super::app::App;
use super::routes::Handler;
use super::{Asked, Reply};
use crate::blobs::{self, picture_type};
use crate::error::ViewerError;
use crate::{assets, thumbs};

pub(crate) const PICTURES: &[(&str, Handler)] = &[
    ("/runs/{run}/blobs/{digest}", blob),
    ("/runs/{run}/thumbs/{digest}", thumb),
    ("/assets/{digest}/{name}", asset),
];

/// What is larger is sent piece by piece.
const AT_ONCE: u64 = 16 << 20;
/// No picture of a screen is larger; whatever is, is a download.
const LARGEST_PICTURE: u64 = 64 << 20;
/// Bytes that are read at a time.
const PIECE: usize = 128 << 10;

fn blob(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let digest = asked.digest()?;
    Ok(reply(read(run.folder(), &digest)?))
}

fn thumb(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let thumb = thumbs::thumb(app.library.cache(), run.folder(), &asked.digest()?)?;
    Ok(Reply::Fixed {
        content_type: thumb.content_type,
        body: thumb.bytes.into(),
    })
}

fn asset(_: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let (digest, name) = (asked.part("digest")?, asked.part("name")?);
    let asset = assets::find(digest, name).ok_or_else(|| {
        ViewerError::NotFound("this page is of another version: load it anew".to_owned())
    })?;
    Ok(Reply::Fixed {
        content_type: asset.content_type(),
        body: asset.bytes.into(),
    })
}

/// A blob that was looked at.
#[derive(Debug)]
pub(crate) enum Blob {
    Whole(Vec<u8>),
    /// With its first bytes and its length; to be read from the beginning.
    Large(File, Vec<u8>, u64),
}

/// A picture, however large; `None` of what is none, or is not there.
pub(crate) fn stored(folder: &RunFolder, digest: &Digest) -> Option<Blob> {
    let blob = read(folder, digest).ok()?;
    let (Blob::Whole(begin) | Blob::Large(_, begin, _)) = &blob;
    picture_type(begin)?;
    Some(blob)
}

fn reply(blob: Blob) -> Reply {
    match blob {
        Blob::Whole(bytes) => match picture_type(&bytes) {
            Some(content_type) => Reply::Fixed {
                content_type,
                body: bytes.into(),
            },
            None => Reply::File(bytes.into()),
        },
        Blob::Large(file, begin, length) => {
            let shown = picture_type(&begin).filter(|_| length <= LARGEST_PICTURE);
            match shown {
                Some(content_type) => Reply::Fixed {
                    content_type,
                    body: pieces(file),
                },
                None => Reply::File(pieces(file)),
            }
        }
    }
}

fn read(folder: &RunFolder, digest: &Digest) -> Result<Blob, ViewerError> {
    let (file, length) = blobs::open(folder, digest)?;
    if length <= AT_ONCE {
        let bytes = blobs::whole(folder, digest, &file, length)?;
        return Ok(Blob::Whole(bytes));
    }
    let failed = ViewerError::io("can't read", folder.blob(digest));
    let (found, begin) = look_through(&file).map_err(failed)?;
    match found == *digest {
        true => Ok(Blob::Large(file, begin, length)),
        false => Err(blobs::changed(digest)),
    }
}

/// Before the first byte is sent. Gives its digest and its first bytes, and goes back to the beginning.
fn look_through(mut file: &File) -> io::Result<(Digest, Vec<u8>)> {
    let mut hasher = Hasher::default();
    let mut begin = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        let count = match file.read(&mut piece)? {
            0 => break,
            count => count,
        };
        let read = piece.get(..count).unwrap_or_default();
        if begin.is_empty() {
            begin.extend_from_slice(read.get(..64).unwrap_or(read));
        }
        hasher.update(read);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok((hasher.finish(), begin))
}

fn pieces(file: File) -> Body {
    let pieces = stream::try_unfold(tokio::fs::File::from_std(file), |mut file| async move {
        let mut piece = vec![0; PIECE];
        let count = file.read(&mut piece).await?;
        piece.truncate(count);
        Ok::<_, io::Error>((count > 0).then(|| (Bytes::from(piece), file)))
    });
    Body::from_stream(pieces)
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
        let shown = reply(read(&folder, &digest).unwrap());
        assert!(matches!(
            shown,
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
            let sent = reply(read(&folder, &digest).unwrap());
            assert!(matches!(sent, Reply::File(_)));
            assert!(super::stored(&folder, &digest).is_none());
        }
    }

    #[test]
    fn a_large_picture_is_shown_and_a_huge_one_is_a_download() {
        for (length, shown) in [(AT_ONCE + 1, true), (LARGEST_PICTURE + 1, false)] {
            let mut content = b"\x89PNG\r\n\x1a\n".to_vec();
            content.resize(length as usize, 7);
            let (_root, folder, digest) = stored(&content);
            let kept = super::stored(&folder, &digest);
            assert!(matches!(kept, Some(Blob::Large(_, _, size)) if size == length));
            let sent = reply(read(&folder, &digest).unwrap());
            assert_eq!(matches!(sent, Reply::Fixed { .. }), shown, "{sent:?}");
            content[100] = 8;
            fs::write(folder.blob(&digest), &content).unwrap();
            assert!(read(&folder, &digest).is_err());
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
