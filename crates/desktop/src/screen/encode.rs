//! Frames as files that others can show. Knows nothing of where they go.

use image_webp::{ColorType as WebPColour, WebPEncoder};
use jpeg_encoder::{ColorType as JpegColour, Encoder as JpegEncoder};

use super::frame::{Frame, PIXEL};
use crate::error::DesktopError;

/// Of a pixel in most files.
const RGB: usize = 3;

/// So many pixels are packed at once: they fill whole words.
const GROUP: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// In a few milliseconds.
    Png,
    /// At about half the size in about ten times the time.
    PngSmall,
    /// Lossless.
    WebP,
    /// Loses detail; `quality` is 1 to 100.
    Jpeg { quality: u8 },
}

impl PictureFormat {
    /// The usual extension of such files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png | Self::PngSmall => "png",
            Self::WebP => "webp",
            Self::Jpeg { .. } => "jpeg",
        }
    }
}

pub(super) fn encode(frame: &Frame, format: PictureFormat) -> Result<Vec<u8>, DesktopError> {
    match format {
        // Trying all filters on each row would cost a third more time and save a twentieth of the size.
        PictureFormat::Png => png(frame, png::Compression::Fast, png::Filter::Paeth),
        PictureFormat::PngSmall => png(frame, png::Compression::Balanced, png::Filter::Adaptive),
        PictureFormat::WebP => webp(frame),
        PictureFormat::Jpeg { quality } => jpeg(frame, quality),
    }
}

fn png(
    frame: &Frame,
    compression: png::Compression,
    filter: png::Filter,
) -> Result<Vec<u8>, DesktopError> {
    let size = frame.size();
    let mut file = Vec::with_capacity(size.pixels() / 2);
    let mut encoder = png::Encoder::new(&mut file, size.width, size.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(compression);
    encoder.set_filter(filter);
    let mut writer = encoder.write_header().map_err(failed("PNG"))?;
    let written = writer.write_image_data(&rgb(frame.pixels()));
    written
        .and_then(|()| writer.finish())
        .map_err(failed("PNG"))?;
    Ok(file)
}

fn webp(frame: &Frame) -> Result<Vec<u8>, DesktopError> {
    let size = frame.size();
    let mut file = Vec::with_capacity(size.pixels() / 4);
    WebPEncoder::new(&mut file)
        .encode(
            &rgb(frame.pixels()),
            size.width,
            size.height,
            WebPColour::Rgb8,
        )
        .map_err(failed("WebP"))?;
    Ok(file)
}

fn jpeg(frame: &Frame, quality: u8) -> Result<Vec<u8>, DesktopError> {
    if !(1..=100).contains(&quality) {
        return Err(DesktopError::Invalid(format!(
            "a quality of {quality} is not within 1 to 100"
        )));
    }
    let size = frame.size();
    let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
    let mut file = Vec::with_capacity(size.pixels() / 4);
    JpegEncoder::new(&mut file, quality)
        .encode(
            frame.pixels(),
            side(size.width),
            side(size.height),
            JpegColour::Bgra,
        )
        .map_err(failed("JPEG"))?;
    Ok(file)
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> DesktopError {
    move |error| DesktopError::Io {
        context: format!("can't encode a frame as {what}"),
        source: std::io::Error::other(error.to_string()),
    }
}

/// Red, green and blue of each pixel.
fn rgb(pixels: &[u8]) -> Vec<u8> {
    let mut target = vec![0; pixels.len() / PIXEL * RGB];
    let (groups, rest) = pixels.as_chunks::<{ GROUP * PIXEL }>();
    let (packed, packed_rest) = target.as_chunks_mut::<{ GROUP * RGB }>();
    for (from, to) in groups.iter().zip(packed) {
        *to = pack(from);
    }
    let rest = rest.as_chunks::<PIXEL>().0.iter();
    for (from, to) in rest.zip(packed_rest.as_chunks_mut::<RGB>().0) {
        *to = [from[2], from[1], from[0]];
    }
    target
}

/// Four pixels as three words: by the byte it would take several times as long.
fn pack(from: &[u8; GROUP * PIXEL]) -> [u8; GROUP * RGB] {
    let word = |at: usize| {
        let bytes = [
            from[at * 4],
            from[at * 4 + 1],
            from[at * 4 + 2],
            from[at * 4 + 3],
        ];
        // As 0x00BBGGRR.
        u64::from(u32::from_le_bytes(bytes).swap_bytes() >> 8)
    };
    let low = word(0) | word(1) << 24 | word(2) << 48;
    let high = (word(2) >> 16 | word(3) << 8) as u32;
    let mut to = [0; GROUP * RGB];
    to[..8].copy_from_slice(&low.to_le_bytes());
    to[8..].copy_from_slice(&high.to_le_bytes());
    to
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::super::frame::tests::frame;
    use super::*;

    fn from_png(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(
            (info.color_type, info.bit_depth),
            (png::ColorType::Rgb, png::BitDepth::Eight)
        );
        (info.width, info.height, pixels)
    }

    fn from_webp(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).unwrap();
        assert!(!decoder.is_lossy() && !decoder.has_alpha());
        let (width, height) = decoder.dimensions();
        let mut pixels = vec![0; decoder.output_buffer_size().unwrap()];
        decoder.read_image(&mut pixels).unwrap();
        (width, height, pixels)
    }

    proptest! {
        #[test]
        fn lossless_files_have_the_same_colours(
            (width, height, pixels) in (1_u32..40, 1_u32..12).prop_flat_map(|(width, height)| {
                let len = (width * height) as usize * PIXEL;
                // Few values, so that there is something to compress, and any.
                let byte = prop_oneof![4 => 0_u8..3, 1 => any::<u8>()];
                (Just(width), Just(height), proptest::collection::vec(byte, len))
            })
        ) {
            let wanted: Vec<u8> = pixels
                .chunks(PIXEL)
                .flat_map(|pixel| [pixel[2], pixel[1], pixel[0]])
                .collect();
            let wanted = (width, height, wanted);
            let frame = frame(width, height, pixels);
            for format in [PictureFormat::Png, PictureFormat::PngSmall] {
                prop_assert_eq!(&from_png(&frame.encode(format).unwrap()), &wanted);
            }
            prop_assert_eq!(&from_webp(&frame.encode(PictureFormat::WebP).unwrap()), &wanted);
        }
    }

    #[test]
    fn a_jpeg_has_the_size_of_its_frame() {
        let file = frame(33, 17, vec![90; 33 * 17 * PIXEL])
            .encode(PictureFormat::Jpeg { quality: 80 })
            .unwrap();
        assert_eq!(
            (&file[..2], &file[file.len() - 2..]),
            (&[0xff, 0xd8][..], &[0xff, 0xd9][..])
        );
        // The header of a baseline picture: marker, length, precision, height, width.
        let start = file
            .windows(5)
            .position(|bytes| bytes == [0xff, 0xc0, 0, 17, 8])
            .unwrap();
        assert_eq!(file[start + 5..start + 9], [0, 17, 0, 33]);
    }

    #[test]
    fn a_better_quality_takes_more_room() {
        let noise: Vec<u8> = (0..64 * 64 * 4_u32).map(|n| (n * n % 251) as u8).collect();
        let noise = frame(64, 64, noise);
        let len = |quality| noise.encode(PictureFormat::Jpeg { quality }).unwrap().len();
        assert!(len(95) > len(30));
    }
}
