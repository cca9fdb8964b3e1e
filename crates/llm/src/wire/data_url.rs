//! Pictures as data URLs and back. Knows no provider.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::message::{Image, MediaType};

pub(super) fn write(image: &Image) -> String {
    let name = image.media.name();
    let mut url = String::with_capacity(image.bytes.len() * 4 / 3 + 32);
    url.push_str("data:");
    url.push_str(name);
    url.push_str(";base64,");
    STANDARD.encode_string(&image.bytes, &mut url);
    url
}

/// `None`: it is elsewhere, or no picture of a known kind. Nothing is ever fetched.
pub(super) fn read(url: &str) -> Option<Image> {
    let (media, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Image {
        media: MediaType::parse(media)?,
        bytes: STANDARD.decode(data.trim_ascii()).ok()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_survive_both_ways_and_others_are_left_alone() {
        let image = Image {
            media: MediaType::Jpeg,
            bytes: vec![0, 1, 2, 255].into(),
        };
        let url = write(&image);
        assert_eq!(url, "data:image/jpeg;base64,AAEC/w==");
        assert_eq!(read(&url), Some(image));
        for other in [
            "https://example.org/a.png",
            "data:text/plain;base64,AAEC",
            "data:image/png;base64,%%%",
            "data:image/png,abc",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
