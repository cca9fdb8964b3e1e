//! A picture in memory: rows of red, green and blue. Decoding is bounded, because pictures may come
//! from anywhere.

use agon_core::Region;

/// The longest side of a picture that is decoded or read: as long as that of the largest screen.
pub const MOST_SIDE: u32 = 8192;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("not a picture that can be read: {0}")]
    Broken(String),
    #[error("a picture of {width}x{height} is too large")]
    TooLarge { width: u32, height: u32 },
}

impl Image {
    /// From rows of blue, green, red and one byte of padding, as X servers give them.
    pub fn from_bgrx(width: u32, height: u32, pixels: &[u8]) -> Result<Self, ImageError> {
        let count = u64::from(width) * u64::from(height);
        if pixels.len() as u64 != count * 4 {
            return Err(ImageError::Broken(format!(
                "{} bytes are not {width}x{height} pixels",
                pixels.len()
            )));
        }
        let mut rgb = Vec::with_capacity(pixels.len() / 4 * 3);
        for pixel in pixels.chunks_exact(4) {
            rgb.extend_from_slice(&[pixel[2], pixel[1], pixel[0]]);
        }
        Ok(Self { width, height, rgb })
    }

    /// From rows of red, green and blue without gaps.
    pub(crate) fn from_rgb(width: u32, height: u32, rgb: Vec<u8>) -> Self {
        debug_assert_eq!(rgb.len() as u64, u64::from(width) * u64::from(height) * 3);
        Self { width, height, rgb }
    }

    pub fn from_png(bytes: &[u8]) -> Result<Self, ImageError> {
        let broken = |error: png::DecodingError| ImageError::Broken(error.to_string());
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(broken)?;
        let (width, height) = (reader.info().width, reader.info().height);
        if width.max(height) > MOST_SIDE {
            return Err(ImageError::TooLarge { width, height });
        }
        let size = reader
            .output_buffer_size()
            .ok_or(ImageError::TooLarge { width, height })?;
        let mut data = vec![0; size];
        let info = reader.next_frame(&mut data).map_err(broken)?;
        data.truncate(info.buffer_size());
        let rgb = match info.color_type {
            png::ColorType::Rgb => data,
            png::ColorType::Rgba => data
                .chunks_exact(4)
                .flat_map(|p| [p[0], p[1], p[2]])
                .collect(),
            png::ColorType::Grayscale => data.iter().flat_map(|&p| [p, p, p]).collect(),
            png::ColorType::GrayscaleAlpha => data
                .chunks_exact(2)
                .flat_map(|p| [p[0], p[0], p[0]])
                .collect(),
            png::ColorType::Indexed => {
                return Err(ImageError::Broken("a palette was left".to_owned()));
            }
        };
        Ok(Self { width, height, rgb })
    }

    pub const fn width(&self) -> u32 {
        self.width
    }

    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Rows of red, green, blue, without gaps.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 3;
        self.rgb.get(at..at + 3)?.try_into().ok()
    }

    /// The part of a region that lies in the picture; `None` if there is none.
    pub fn crop(&self, region: Region) -> Option<Self> {
        let right = region.x.saturating_add(region.width).min(self.width);
        let bottom = region.y.saturating_add(region.height).min(self.height);
        if region.x >= right || region.y >= bottom {
            return None;
        }
        let (width, height) = (right - region.x, bottom - region.y);
        let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
        for y in region.y..bottom {
            let at = (y as usize * self.width as usize + region.x as usize) * 3;
            rgb.extend_from_slice(&self.rgb[at..at + width as usize * 3]);
        }
        Some(Self { width, height, rgb })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().unwrap();
        writer
            .write_image_data(&vec![7; width as usize * height as usize])
            .unwrap();
        writer.finish().unwrap();
        bytes
    }

    /// The checksum of a PNG's chunk.
    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
            })
        })
    }

    #[test]
    fn no_side_is_longer_than_that_of_the_largest_screen() {
        for (width, height) in [(MOST_SIDE, 1), (1, MOST_SIDE)] {
            let image = Image::from_png(&png(width, height)).unwrap();
            assert_eq!((image.width(), image.height()), (width, height));
        }
        // Its header is enough: what would take long to unpack is not even there.
        for (width, height) in [(MOST_SIDE + 1, 1), (1, 8_000_000)] {
            let mut bytes = png(1, 1);
            let [width, height] = [width, height].map(u32::to_be_bytes);
            bytes[16..20].copy_from_slice(&width);
            bytes[20..24].copy_from_slice(&height);
            let checksum = crc32(&bytes[12..29]).to_be_bytes();
            bytes[29..33].copy_from_slice(&checksum);
            let refused = Image::from_png(&bytes);
            assert!(matches!(refused, Err(ImageError::TooLarge { .. })));
        }
    }
}
