//! Pictures for tests: one colour, with squares and with letters on it.

use std::sync::Arc;

use agon_vision::Image;

pub(crate) const DARK: [u8; 3] = [16, 16, 32];
pub(crate) const LIGHT: [u8; 3] = [240, 240, 240];

#[derive(Debug, Clone)]
pub(crate) struct Canvas {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl Canvas {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            rgb: DARK.repeat(width as usize * height as usize),
        }
    }

    pub(crate) fn square(mut self, x: u32, y: u32, side: u32, colour: [u8; 3]) -> Self {
        self.fill(x, y, side, side, colour);
        self
    }

    /// Specks, the same every time.
    pub(crate) fn noise(mut self, x: u32, y: u32, width: u32, height: u32) -> Self {
        let mut state = 1u32;
        for row in (y..y + height).step_by(3) {
            for column in (x..x + width).step_by(3) {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if state >> 30 == 0 {
                    self.fill(column, row, 3, 3, LIGHT);
                }
            }
        }
        self
    }

    fn fill(&mut self, x: u32, y: u32, width: u32, height: u32, colour: [u8; 3]) {
        for row in y..(y + height).min(self.height) {
            for column in x..(x + width).min(self.width) {
                let at = (row as usize * self.width as usize + column as usize) * 3;
                self.rgb[at..at + 3].copy_from_slice(&colour);
            }
        }
    }

    /// Letters of five by seven dots, each dot `size` pixels wide.
    pub(crate) fn text(mut self, x: u32, y: u32, size: u32, text: &str) -> Self {
        for (place, letter) in (0..).zip(text.chars()) {
            for (row, dots) in (0..).zip(glyph(letter)) {
                for column in (0..5).filter(|column| dots >> (4 - column) & 1 == 1) {
                    let left = x + (place * 6 + column) * size;
                    self.fill(left, y + row * size, size, size, LIGHT);
                }
            }
        }
        self
    }

    pub(crate) fn image(&self) -> Arc<Image> {
        let bgrx: Vec<u8> = self
            .rgb
            .chunks_exact(3)
            .flat_map(|pixel| [pixel[2], pixel[1], pixel[0], 0])
            .collect();
        Arc::new(Image::from_bgrx(self.width, self.height, &bgrx).unwrap())
    }

    pub(crate) fn png(&self) -> Arc<[u8]> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.rgb).unwrap();
        writer.finish().unwrap();
        bytes.into()
    }
}

/// Seven rows of five dots.
fn glyph(letter: char) -> [u8; 7] {
    match letter {
        '0' => [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
        '1' => [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
        '2' => [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
        '3' => [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
        '4' => [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
        '5' => [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
        '6' => [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
        '7' => [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        '8' => [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
        '9' => [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
        ':' => [0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x0c, 0x00],
        'A' => [0x0e, 0x11, 0x11, 0x11, 0x1f, 0x11, 0x11],
        'L' => [0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f],
        'S' => [0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e],
        'T' => [0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04],
        ' ' => [0; 7],
        other => panic!("there is no glyph for {other}"),
    }
}
