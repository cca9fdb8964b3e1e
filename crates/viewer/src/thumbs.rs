//! Small pictures of screens: made once, kept beside the indexes by the digest of the picture. Knows no
//! run.

mod decoding;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use agon_core::Digest;
use agon_store::{RunFolder, read_plain};
use image_webp::{ColorType as WebPColour, WebPEncoder};

use crate::blobs::{self, picture_type};
use crate::error::ViewerError;
use crate::library::lock;

use decoding::{Kind, MOST_BYTES, Pixels};

/// A small picture has at most this many pixels across, and down.
const WIDTH: u32 = 320;
const HEIGHT: u32 = 640;

/// Pictures of more bytes, as stored or as decoded, are in memory one at a time.
const LARGE: usize = 32 << 20;
/// Bytes of one that is sent as it is.
const MOST_AS_IT_IS: usize = 16 << 20;
/// A small picture that is kept is not larger.
const MOST_KEPT: u64 = 2 << 20;

/// There are 256 folders of small pictures; each of them is kept to this many bytes, by removing the
/// oldest ones of it after every so many that were added anywhere.
const MOST_OF_FOLDER: u64 = 4 << 20;
const LOOK_EVERY: u32 = 32;

/// Encoded, with its type.
#[derive(Debug)]
pub(crate) struct Thumb {
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// `cache`: the viewer's own folder.
pub(crate) fn thumb(cache: &Path, folder: &RunFolder, blob: &Digest) -> Result<Thumb, ViewerError> {
    let place = place(cache, blob);
    if let Some(thumb) = read_plain(&place, MOST_KEPT).ok().and_then(sniffed) {
        return Ok(thumb);
    }
    let (file, length) = blobs::open(folder, blob)?;
    if length > MOST_BYTES {
        let why = format!("{blob} is too large for a picture");
        return Err(ViewerError::NotFound(why));
    }
    let alone = (length > LARGE as u64).then(|| lock(&ONE_LARGE));
    let stored = blobs::whole(folder, blob, &file, length)?;
    let Some(stored) = sniffed(stored) else {
        let why = format!("{blob} is no picture");
        return Err(ViewerError::NotFound(why));
    };
    let thumb = match made_small(&stored, alone) {
        Ok(Some(thumb)) => thumb,
        Ok(None) if stored.bytes.len() <= MOST_AS_IT_IS => return Ok(stored),
        Ok(None) => {
            let why = format!("the picture {blob} is too large to be sent as a small one");
            return Err(ViewerError::NotFound(why));
        }
        Err(why) => {
            let why = format!("the picture {blob} can't be decoded: {why}");
            return Err(ViewerError::NotFound(why));
        }
    };
    // Without a place for it, it is made again the next time.
    keep(&place, &thumb.bytes).ok();
    Ok(thumb)
}

fn place(cache: &Path, blob: &Digest) -> PathBuf {
    let hex = blob.to_hex();
    let (folder, name) = hex.split_at(2);
    cache.join("thumbs").join(folder).join(name)
}

/// `None`: it is no picture.
fn sniffed(bytes: Vec<u8>) -> Option<Thumb> {
    let content_type = picture_type(&bytes)?;
    Some(Thumb {
        content_type,
        bytes,
    })
}

static ONE_LARGE: Mutex<()> = Mutex::new(());

/// `None`: it is small already. `alone`: no other large one is in memory.
fn made_small(stored: &Thumb, alone: Option<MutexGuard<'_, ()>>) -> Result<Option<Thumb>, String> {
    let Some(kind) = Kind::of(stored.content_type) else {
        return Ok(None);
    };
    let (width, height, bytes) = kind.measure(&stored.bytes)?;
    if width <= WIDTH && height <= HEIGHT {
        return Ok(None);
    }
    let _alone = alone.or_else(|| (bytes > LARGE).then(|| lock(&ONE_LARGE)));
    smaller(&shrink(&kind.decode(&stored.bytes)?)).map(Some)
}

/// Every pixel is the mean of those that it stands for.
fn shrink(from: &Pixels) -> Pixels {
    let (from_width, from_height) = (u64::from(from.width), u64::from(from.height));
    let by_width = from_height * u64::from(WIDTH) / from_width;
    let (width, height) = match by_width > u64::from(HEIGHT) {
        true => (
            from_width * u64::from(HEIGHT) / from_height,
            u64::from(HEIGHT),
        ),
        false => (u64::from(WIDTH), by_width),
    };
    let (width, height) = (width.max(1) as usize, height.max(1) as usize);
    let (columns, rows) = (from.width as usize, from.height as usize);
    let begin = |at: usize, to: usize, of: usize| at * of / to;
    let edges: Vec<usize> = (0..=width).map(|x| begin(x, width, columns)).collect();
    let mut rgb = Vec::with_capacity(width * height * 3);
    let mut sums = vec![[0u32; 3]; width];
    for y in 0..height {
        sums.fill([0; 3]);
        let first = begin(y, height, rows);
        let end = begin(y + 1, height, rows).max(first + 1);
        let band = from.rgb.get(first * columns * 3..end * columns * 3);
        for row in band.unwrap_or_default().chunks_exact(columns * 3) {
            for (sum, edge) in sums.iter_mut().zip(edges.windows(2)) {
                let (left, right) = (edge[0], edge[1].max(edge[0] + 1));
                let pixels = row.get(left * 3..right * 3).unwrap_or_default();
                for pixel in pixels.chunks_exact(3) {
                    sum[0] += u32::from(pixel[0]);
                    sum[1] += u32::from(pixel[1]);
                    sum[2] += u32::from(pixel[2]);
                }
            }
        }
        for (sum, edge) in sums.iter().zip(edges.windows(2)) {
            let across = edge[1].max(edge[0] + 1) - edge[0];
            let count = (across * (end - first)) as u32;
            rgb.extend(sum.map(|sum| ((sum + count / 2) / count) as u8));
        }
    }
    Pixels {
        width: width as u32,
        height: height as u32,
        rgb,
    }
}

/// The smaller one of the two ways to write it without loss.
fn smaller(pixels: &Pixels) -> Result<Thumb, String> {
    let (png, webp) = (png(pixels)?, webp(pixels)?);
    Ok(match webp.len() < png.len() {
        true => Thumb {
            content_type: "image/webp",
            bytes: webp,
        },
        false => Thumb {
            content_type: "image/png",
            bytes: png,
        },
    })
}

fn png(pixels: &Pixels) -> Result<Vec<u8>, String> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixels.width, pixels.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&pixels.rgb)?;
        writer.finish()
    });
    written.map_err(|error| error.to_string())?;
    Ok(file)
}

fn webp(pixels: &Pixels) -> Result<Vec<u8>, String> {
    let mut file = Vec::new();
    WebPEncoder::new(&mut file)
        .encode(&pixels.rgb, pixels.width, pixels.height, WebPColour::Rgb8)
        .map_err(|error| error.to_string())?;
    Ok(file)
}

static ADDED: AtomicU32 = AtomicU32::new(0);

/// Whoever makes the same at the same time writes the same.
fn keep(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(folder) = place.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(place).map_err(|failed| failed.error)?;
    if ADDED
        .fetch_add(1, Ordering::Relaxed)
        .is_multiple_of(LOOK_EVERY)
    {
        tidy(folder, MOST_OF_FOLDER)?;
    }
    Ok(())
}

/// Removes the oldest ones of a folder until the rest is small enough.
fn tidy(folder: &Path, most: u64) -> io::Result<()> {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        if about.is_file() {
            files.push((about.modified()?, about.len(), entry.path()));
        }
    }
    let mut sum: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    if sum <= most {
        return Ok(());
    }
    files.sort();
    // A quarter less, so that it need not be done again at once.
    for (_, bytes, path) in files {
        if sum <= most / 4 * 3 {
            break;
        }
        fs::remove_file(path)?;
        sum = sum.saturating_sub(bytes);
    }
    Ok(())
}

#[cfg(test)]
#[path = "thumbs_tests.rs"]
mod tests;
