//! Screens to look at: a window with a number on it, so that any two of them differ and people can tell
//! which is which. Nothing here resembles a real program.

use agon_core::{Picture, PictureFormat};

const SEGMENTS: [u8; 10] = [0x77, 0x24, 0x5d, 0x6d, 0x2e, 0x6b, 0x7b, 0x25, 0x7f, 0x6f];

/// The screen number `n`, as a PNG.
pub fn painted(n: u32, width: u32, height: u32) -> Picture {
    let mut canvas = Canvas::new(width, height);
    canvas.fill(0, 0, width, height, [38, 50, 56]);
    canvas.fill(0, 0, width, 24, [20, 26, 30]);
    let (w, h) = (width * 3 / 5, height * 3 / 5);
    let (x, y) = (
        (n * 37) % (width - w).max(1),
        24 + (n * 23) % (height - h - 24).max(1),
    );
    canvas.fill(x, y, w, h, [245, 245, 240]);
    canvas.fill(x, y, w, 26, [0, 96, 120]);
    for row in 0..12 {
        let long = 40 + (n.wrapping_mul(2_654_435_761) >> (row % 16)) % (w / 2).max(41);
        canvas.fill(x + 20, y + 44 + row * 18, long, 8, [120, 120, 115]);
    }
    for (place, digit) in n.to_string().bytes().enumerate() {
        let at = x + w - 180 + place as u32 * 34;
        canvas.digit(usize::from(digit - b'0'), at, y + h - 80);
    }
    Picture::new(PictureFormat::Png, canvas.png())
}

/// A screen of one colour with rectangles on it: left, top, width, height and colour.
pub fn rectangles(
    (width, height): (u32, u32),
    ground: [u8; 3],
    drawn: &[([u32; 4], [u8; 3])],
) -> Picture {
    let mut canvas = Canvas::new(width, height);
    canvas.fill(0, 0, width, height, ground);
    for ([x, y, width, height], colour) in drawn {
        canvas.fill(*x, *y, *width, *height, *colour);
    }
    Picture::new(PictureFormat::Png, canvas.png())
}

struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Canvas {
    fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            pixels: vec![0; width as usize * height as usize * 3],
        }
    }

    fn fill(&mut self, x: u32, y: u32, width: u32, height: u32, colour: [u8; 3]) {
        let (right, bottom) = ((x + width).min(self.width), (y + height).min(self.height));
        for row in y.min(bottom)..bottom {
            let start = (row * self.width + x.min(right)) as usize * 3;
            let end = (row * self.width + right) as usize * 3;
            for pixel in self.pixels[start..end].chunks_exact_mut(3) {
                pixel.copy_from_slice(&colour);
            }
        }
    }

    fn digit(&mut self, digit: usize, x: u32, y: u32) {
        // top, upper left, upper right, middle, lower left, lower right, bottom
        let bars = [
            (4, 0, 16, 4),
            (0, 4, 4, 20),
            (20, 4, 4, 20),
            (4, 24, 16, 4),
            (0, 28, 4, 20),
            (20, 28, 4, 20),
            (4, 48, 16, 4),
        ];
        for (bit, (dx, dy, w, h)) in bars.into_iter().enumerate() {
            if SEGMENTS[digit % 10] >> bit & 1 == 1 {
                self.fill(x + dx, y + dy, w, h, [180, 40, 30]);
            }
        }
    }

    fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Fast);
        // Writing to memory does not fail, and an empty picture is no picture: tests would see it.
        let written = encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&self.pixels));
        match written {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }
}
