//! Width and height from the first bytes of a picture. Bounded, since pictures may come from anywhere.

use crate::message::MediaType;

/// Headers of a JPEG are looked through up to here.
const JPEG_SEGMENTS: usize = 1000;

/// `None`: it is no such picture, or it is cut.
pub(super) fn size(media: MediaType, bytes: &[u8]) -> Option<(u32, u32)> {
    let size = match media {
        MediaType::Png => png(bytes),
        MediaType::Jpeg => jpeg(bytes),
        MediaType::Webp => webp(bytes),
        MediaType::Gif => gif(bytes),
    };
    size.filter(|(width, height)| *width > 0 && *height > 0)
}

fn big32(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

fn big16(bytes: &[u8], at: usize) -> Option<u32> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u32::from(u16::from_be_bytes(two.try_into().ok()?)))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(count)?)?;
    Some(
        part.iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
    )
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let head = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    (head.get(4..8)? == b"IHDR").then_some(())?;
    Some((big32(head, 8)?, big32(head, 12)?))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    matches!(bytes.get(..6)?, b"GIF87a" | b"GIF89a").then_some(())?;
    Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_webp = bytes.get(..4)? == b"RIFF" && bytes.get(8..12)? == b"WEBP";
    is_webp.then_some(())?;
    match bytes.get(12..16)? {
        b"VP8 " => {
            (bytes.get(23..26)? == [0x9d, 0x01, 0x2a]).then_some(())?;
            Some((
                little(bytes, 26, 2)? & 0x3fff,
                little(bytes, 28, 2)? & 0x3fff,
            ))
        }
        b"VP8L" => {
            (*bytes.get(20)? == 0x2f).then_some(())?;
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.get(..2)? == [0xff, 0xd8]).then_some(())?;
    let mut at = 2;
    for _ in 0..JPEG_SEGMENTS {
        // A marker may have any number of fill bytes before it.
        (*bytes.get(at)? == 0xff).then_some(())?;
        let kind = loop {
            at += 1;
            let byte = *bytes.get(at)?;
            if byte != 0xff {
                break byte;
            }
        };
        at += 1;
        match kind {
            // Frames of all kinds; C4, C8 and CC are tables.
            0xc0..=0xcf if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big16(bytes, at + 5)?, big16(bytes, at + 3)?));
            }
            0x01 | 0xd0..=0xd7 => {}
            // The picture begins, or ends, without a frame.
            0xd9 | 0xda => return None,
            _ => at = at.checked_add(big16(bytes, at)? as usize)?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read_from_headers() {
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc0\x00\x11\x08\x02\x58\x03\x20";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0abc\x9d\x01\x2a\x20\x03\x58\x02";
        let bits = (799u32 | 599 << 14).to_le_bytes();
        let lossless = [b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".as_slice(), &bits].concat();
        let extended = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0abcd\x1f\x03\x00\x57\x02\x00";
        for (media, bytes) in [
            (
                MediaType::Png,
                b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x03\x20\0\0\x02\x58".as_slice(),
            ),
            (MediaType::Gif, b"GIF89a\x20\x03\x58\x02"),
            (MediaType::Jpeg, jpeg),
            (MediaType::Webp, lossy),
            (MediaType::Webp, &lossless),
            (MediaType::Webp, extended),
        ] {
            assert_eq!(size(media, bytes), Some((800, 600)), "{media:?}");
            for end in 0..bytes.len() {
                assert_eq!(size(media, &bytes[..end]), None, "{media:?} cut at {end}");
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(begin in 0usize..6, rest in prop::collection::vec(any::<u8>(), 0..200)) {
            let begins: [&[u8]; 6] = [
                b"", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", b"GIF89a", b"\xff\xd8\xff",
                b"RIFF\0\0\0\0WEBPVP8X", b"RIFF\0\0\0\0WEBPVP8L",
            ];
            let bytes = [begins[begin], &rest].concat();
            for media in [MediaType::Png, MediaType::Jpeg, MediaType::Webp, MediaType::Gif] {
                let _ = size(media, &bytes);
            }
        }
    }
}
