//! Pictures that come out of a sandbox: taken for what they are, or not at all. Nobody here decodes
//! them; their first bytes say what they are and how large they claim to be.

use agon_core::{Picture, PictureFormat};

/// How many come with one observation.
pub(super) const MOST: usize = 4;

/// The largest one, encoded.
pub(super) const LARGEST: usize = 2 << 20;

/// Pixels of each side: a small file can claim to be any size.
pub(super) const LONGEST_SIDE: u32 = 8_192;

const PNG: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

/// The pictures among what came, and in words what was left out.
pub(super) fn pictures(came: Vec<Vec<u8>>) -> (Vec<Picture>, Option<String>) {
    let all = came.len();
    let pictures: Vec<_> = came
        .into_iter()
        .take(MOST)
        .filter_map(|data| Some(Picture::new(format(&data)?, data)))
        .collect();
    let lost = all - pictures.len();
    let note = (lost > 0).then(|| format!("[{lost} of {all} pictures were left out]"));
    (pictures, note)
}

fn format(data: &[u8]) -> Option<PictureFormat> {
    if data.len() > LARGEST {
        return None;
    }
    if data.starts_with(&JPEG) {
        return Some(PictureFormat::Jpeg);
    }
    // Length and name of the first chunk, then width and height.
    let header = data.strip_prefix(&PNG)?.get(4..16)?;
    let side = |at: usize| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
    let fits = |side: u32| (1..=LONGEST_SIDE).contains(&side);
    (header.starts_with(b"IHDR") && fits(side(4)?) && fits(side(8)?)).then_some(PictureFormat::Png)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let sides = [width, height].map(u32::to_be_bytes).concat();
        [&PNG, b"\0\0\0\x0dIHDR".as_slice(), &sides, b"rest"].concat()
    }

    #[test]
    fn what_is_no_picture_or_too_large_is_left_out() {
        let (pictures, note) = pictures(vec![
            png(640, 480),
            b"GIF89a".to_vec(),
            png(100_000, 1),
            [JPEG.as_slice(), &[0; 9]].concat(),
            png(1, 1),
        ]);
        assert_eq!(
            pictures
                .iter()
                .map(|picture| picture.format)
                .collect::<Vec<_>>(),
            [PictureFormat::Png, PictureFormat::Jpeg]
        );
        assert_eq!(note.unwrap(), "[3 of 5 pictures were left out]");
    }

    #[test]
    fn large_files_and_torn_headers_are_no_pictures() {
        let mut large = png(8, 8);
        large.resize(LARGEST + 1, 0);
        assert_eq!(format(&large), None);
        large.truncate(LARGEST);
        assert_eq!(format(&large), Some(PictureFormat::Png));
        let whole = png(8, 8);
        for length in 0..PNG.len() + 16 {
            assert_eq!(format(&whole[..length]), None, "{length}");
        }
        assert_eq!(format(&png(0, 8)), None);
    }
}
