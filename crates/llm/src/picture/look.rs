//! What a file of a picture is, by its first bytes.

use super::header;
use crate::message::MediaType;

/// Kind, width and height; `None`: no picture that providers take.
pub fn look(bytes: &[u8]) -> Option<(MediaType, u32, u32)> {
    let kinds = [
        MediaType::Png,
        MediaType::Jpeg,
        MediaType::Webp,
        MediaType::Gif,
    ];
    kinds.into_iter().find_map(|media| {
        let (width, height) = header::size(media, bytes)?;
        Some((media, width, height))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        let gif = b"GIF89a\x20\x03\x58\x02\0\0\0";
        assert_eq!(look(gif), Some((MediaType::Gif, 800, 600)));
        assert_eq!(look(b"<html>"), None);
        assert_eq!(look(b""), None);
    }
}
