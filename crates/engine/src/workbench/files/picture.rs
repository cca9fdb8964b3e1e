//! Files that are pictures, known by their first bytes. Nobody here decodes them.

use agon_core::{Picture, PictureFormat};

use super::super::drawn;

/// What a file shows: nothing if it is no picture, in words why it can't be shown.
pub(super) fn of(content: &[u8]) -> Option<Result<Picture, &'static str>> {
    const TOO_LARGE: &str = "the picture is too large or damaged: make a smaller one of it";
    let large = content.len() > drawn::LARGEST;
    if content.starts_with(b"\x89PNG\r\n") || content.starts_with(b"\xff\xd8\xff") {
        let (mut pictures, _) = drawn::pictures(vec![content.to_vec()]);
        Some(pictures.pop().ok_or(TOO_LARGE))
    } else if content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP") {
        let fits = webp_sides(content).is_some_and(|(width, height)| {
            [width, height]
                .iter()
                .all(|side| (1..=drawn::LONGEST_SIDE).contains(side))
        });
        let picture = || Picture::new(PictureFormat::Webp, content.to_vec());
        Some((fits && !large).then(picture).ok_or(TOO_LARGE))
    } else if content.starts_with(b"GIF8") {
        Some(Err("a GIF can't be shown: make a PNG of it"))
    } else {
        None
    }
}

/// As the first chunk says.
fn webp_sides(content: &[u8]) -> Option<(u32, u32)> {
    let (kind, chunk) = (content.get(12..16)?, content.get(20..)?);
    let pair = |at: usize| Some(u16::from_le_bytes(*chunk.get(at..)?.first_chunk()?));
    let triple = |at: usize| {
        let [low, middle, high]: [u8; 3] = *chunk.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes([low, middle, high, 0]) + 1)
    };
    match kind {
        b"VP8 " => Some((u32::from(pair(6)? & 0x3fff), u32::from(pair(8)? & 0x3fff))),
        b"VP8L" => {
            let bits = u32::from_le_bytes(*chunk.get(1..)?.first_chunk()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((triple(4)?, triple(7)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webp(kind: &[u8], chunk: &[u8]) -> Vec<u8> {
        [b"RIFF\0\0\0\0WEBP", kind, b"\0\0\0\0", chunk].concat()
    }

    #[test]
    fn sides_of_all_kinds_of_webp() {
        let lossy = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01");
        assert_eq!(webp_sides(&lossy), Some((640, 480)));
        let bits = 639_u32 | 479 << 14;
        let lossless = webp(b"VP8L", &[&[0x2f][..], &bits.to_le_bytes()].concat());
        assert_eq!(webp_sides(&lossless), Some((640, 480)));
        let extended = webp(b"VP8X", b"\0\0\0\0\x7f\x02\0\xdf\x01\0");
        assert_eq!(webp_sides(&extended), Some((640, 480)));
        for whole in [lossy, lossless, extended] {
            assert_eq!(of(&whole).unwrap().unwrap().format, PictureFormat::Webp);
            for length in 12..whole.len() {
                assert!(of(&whole[..length]).unwrap().is_err(), "{length}");
            }
        }
        let huge = webp(b"VP8X", b"\0\0\0\0\xff\xff\xff\xff\xff\xff");
        assert!(of(&huge).unwrap().is_err());
    }

    #[test]
    fn what_is_no_picture_is_not_taken_for_one() {
        for other in [&b""[..], b"text", b"RIFF", b"RIFF\0\0\0\0WAVE", b"\x89PN"] {
            assert!(of(other).is_none());
        }
        assert!(of(b"GIF89a").unwrap().is_err());
        assert!(of(b"\x89PNG\r\n\x1a\n").unwrap().is_err());
    }
}
