//! Pictures of anybody as pixels. What a file says of itself is believed only as far as there is room for it.

use std::io::Cursor;
use std::panic::catch_unwind;

use image_webp::WebPDecoder;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// A side of a picture that is decoded.
const MOST_SIDE: u32 = 16_384;
/// Bytes of a picture, as stored and as decoded.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// How often a JPEG may go over all of its pixels: programs that write them do so about ten times, and each takes
/// as long as the first.
const MOST_SCANS: usize = 32;

/// Rows of red, green, blue, without gaps.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) rgb: Vec<u8>,
}

/// Width, height, and the bytes that decoding takes.
type Size = (u32, u32, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Png,
    WebP,
    Jpeg,
}

impl Kind {
    pub(super) fn of(content_type: &str) -> Option<Self> {
        match content_type {
            "image/png" => Some(Self::Png),
            "image/webp" => Some(Self::WebP),
            "image/jpeg" => Some(Self::Jpeg),
            _ => None,
        }
    }

    pub(super) fn measure(self, file: &[u8]) -> Result<Size, String> {
        match self {
            Self::Png => measure_png(file),
            Self::WebP => measure_webp(file),
            Self::Jpeg => caught(|| measure_jpeg(&mut jpeg_decoder(file))),
        }
    }

    pub(super) fn decode(self, file: &[u8]) -> Result<Pixels, String> {
        match self {
            Self::Png => decode_png(file),
            Self::WebP => decode_webp(file),
            Self::Jpeg => caught(|| decode_jpeg(file)),
        }
    }
}

fn fits(width: u32, height: u32, bytes: Option<usize>) -> Result<Size, String> {
    match bytes {
        Some(bytes)
            if (1..=MOST_SIDE).contains(&width)
                && (1..=MOST_SIDE).contains(&height)
                && bytes as u64 <= MOST_BYTES =>
        {
            Ok((width, height, bytes))
        }
        _ => Err(format!("{width} x {height} is no size of a picture")),
    }
}

fn png_reader(file: &[u8]) -> Result<png::Reader<Cursor<&[u8]>>, String> {
    let limits = png::Limits {
        bytes: MOST_BYTES as usize,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(file), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    decoder.read_info().map_err(|error| error.to_string())
}

fn measure_png(file: &[u8]) -> Result<Size, String> {
    let reader = png_reader(file)?;
    let info = reader.info();
    fits(info.width, info.height, reader.output_buffer_size())
}

fn decode_png(file: &[u8]) -> Result<Pixels, String> {
    let mut reader = png_reader(file)?;
    let size = reader.output_buffer_size();
    let (width, height, size) = fits(reader.info().width, reader.info().height, size)?;
    let mut data = vec![0; size];
    let info = reader
        .next_frame(&mut data)
        .map_err(|error| error.to_string())?;
    data.truncate(info.buffer_size());
    let rgb = match info.color_type {
        png::ColorType::Rgb => data,
        png::ColorType::Rgba => without_alpha(&data),
        png::ColorType::Grayscale => data.iter().flat_map(|&p| [p, p, p]).collect(),
        png::ColorType::GrayscaleAlpha => {
            let pixels = data.chunks_exact(2);
            pixels.flat_map(|p| [p[0], p[0], p[0]]).collect()
        }
        png::ColorType::Indexed => return Err("a palette was left".to_owned()),
    };
    Ok(Pixels { width, height, rgb })
}

fn webp_decoder(file: &[u8]) -> Result<WebPDecoder<Cursor<&[u8]>>, String> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).map_err(|error| error.to_string())?;
    decoder.set_memory_limit(MOST_BYTES as usize);
    Ok(decoder)
}

fn measure_webp(file: &[u8]) -> Result<Size, String> {
    let decoder = webp_decoder(file)?;
    let (width, height) = decoder.dimensions();
    fits(width, height, decoder.output_buffer_size())
}

fn decode_webp(file: &[u8]) -> Result<Pixels, String> {
    let mut decoder = webp_decoder(file)?;
    let (width, height) = decoder.dimensions();
    let (width, height, size) = fits(width, height, decoder.output_buffer_size())?;
    let mut data = vec![0; size];
    decoder
        .read_image(&mut data)
        .map_err(|error| error.to_string())?;
    let rgb = match decoder.has_alpha() {
        true => without_alpha(&data),
        false => data,
    };
    Ok(Pixels { width, height, rgb })
}

fn without_alpha(rgba: &[u8]) -> Vec<u8> {
    let pixels = rgba.chunks_exact(4);
    pixels.flat_map(|p| [p[0], p[1], p[2]]).collect()
}

type Jpeg<'a> = JpegDecoder<ZCursor<&'a [u8]>>;

fn jpeg_decoder(file: &[u8]) -> Jpeg<'_> {
    let options = DecoderOptions::default()
        .set_max_width(MOST_SIDE as usize)
        .set_max_height(MOST_SIDE as usize)
        .jpeg_set_max_scans(MOST_SCANS)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    JpegDecoder::new_with_options(ZCursor::new(file), options)
}

fn measure_jpeg(decoder: &mut Jpeg<'_>) -> Result<Size, String> {
    decoder
        .decode_headers()
        .map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("it has no size")?;
    // One that comes in several scans is in memory a second time.
    let bytes = decoder
        .output_buffer_size()
        .and_then(|bytes| bytes.checked_mul(2));
    fits(side(width), side(height), bytes)
}

fn side(pixels: usize) -> u32 {
    u32::try_from(pixels).unwrap_or(u32::MAX)
}

fn decode_jpeg(file: &[u8]) -> Result<Pixels, String> {
    let mut decoder = jpeg_decoder(file);
    let (width, height, _) = measure_jpeg(&mut decoder)?;
    let mut rgb = vec![0; width as usize * height as usize * 3];
    decoder
        .decode_into(&mut rgb)
        .map_err(|error| error.to_string())?;
    Ok(Pixels { width, height, rgb })
}

/// A decoder that gives up on a file says nothing about the next one.
fn caught<T>(
    work: impl FnOnce() -> Result<T, String> + std::panic::UnwindSafe,
) -> Result<T, String> {
    catch_unwind(work).unwrap_or_else(|_| Err("its decoder gave up".to_owned()))
}
