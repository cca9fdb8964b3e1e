//! Screens as `data:` URIs, and back. What is no picture stays a text.

use agon_core::{Picture, PictureFormat};
use agon_llm::MediaType;
use agon_llm::picture::look;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// The picture that a screenshot is, with its size.
pub(crate) fn of_uri(text: &str) -> Option<(Picture, (u32, u32))> {
    // Some runners leave the beginning out.
    let encoded = match text.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => text,
    };
    let encoded = encoded.trim().trim_end_matches('=');
    let bytes = STANDARD_NO_PAD.decode(encoded).ok()?;
    let (media, width, height) = look(&bytes)?;
    let format = match media {
        MediaType::Png => PictureFormat::Png,
        MediaType::Jpeg => PictureFormat::Jpeg,
        MediaType::Webp => PictureFormat::Webp,
        MediaType::Gif => return None,
    };
    Some((Picture::new(format, bytes), (width, height)))
}

/// Whether a screenshot is a picture that checks can look at, down to its last pixel.
pub(crate) fn is_png(text: &str) -> bool {
    let decodes = |picture: &Picture| {
        let bytes = picture.data().unwrap_or_default();
        picture.format == PictureFormat::Png && agon_vision::Image::from_png(bytes).is_ok()
    };
    of_uri(text).is_some_and(|(picture, _)| decodes(&picture))
}

/// `None` for a picture whose bytes were not read.
pub(crate) fn to_uri(picture: &Picture) -> Option<String> {
    let data = STANDARD.encode(picture.data()?);
    Some(format!("data:image/{};base64,{data}", picture.format))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A PNG of one pixel.
    pub(crate) const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

    #[test]
    fn a_picture_comes_back_as_it_was() {
        let (picture, size) = of_uri(PIXEL).unwrap();
        assert_eq!(size, (1, 1));
        assert_eq!(to_uri(&picture).unwrap(), PIXEL);
        let bare = PIXEL.split_once(',').unwrap().1;
        assert_eq!(of_uri(bare).unwrap().0, picture);
    }

    #[test]
    fn checks_look_at_whole_pictures_of_one_kind() {
        assert!(is_png(PIXEL));
        let (whole, _) = of_uri(PIXEL).unwrap();
        let bytes = whole.data().unwrap();
        let mut torn = bytes.to_vec();
        torn.truncate(bytes.len() - 20);
        let torn = Picture::new(PictureFormat::Png, torn);
        assert!(
            of_uri(&to_uri(&torn).unwrap()).is_some(),
            "its head is there"
        );
        assert!(!is_png(&to_uri(&torn).unwrap()));
        // A JPEG of one pixel, as far as its head says.
        let jpeg = b"\xff\xd8\xff\xc0\0\x11\x08\0\x01\0\x01\x03\x01\x22\0\x02\x11\x01\x03\x11\x01";
        let jpeg = STANDARD.encode(jpeg);
        assert!(of_uri(&jpeg).is_some());
        assert!(!is_png(&jpeg));
    }

    #[test]
    fn what_is_no_picture_is_left_alone() {
        for text in [
            "",
            "http://x/y.png",
            "data:image/png;base64,AAAA",
            "data:,x",
            "data:image/png;base64,%%%",
        ] {
            assert!(of_uri(text).is_none(), "{text}");
        }
    }
}
