//! The pointer's picture, drawn over a frame: the server never has it in a capture.

use x11rb::protocol::xfixes::GetCursorImageReply;

use super::frame::PIXEL;
use crate::geometry::Rect;

/// Draws it where it is, as far as it is within the frame that shows `rect` of the screen.
pub(super) fn draw(cursor: &GetCursorImageReply, rect: Rect, pixels: &mut [u8]) {
    let picture = Rect {
        x: i32::from(cursor.x) - i32::from(cursor.xhot),
        y: i32::from(cursor.y) - i32::from(cursor.yhot),
        width: cursor.width.into(),
        height: cursor.height.into(),
    };
    let Some(seen) = picture.intersect(rect) else {
        return;
    };
    // Both differences are within what was just cut, so they are not negative.
    let from = |at: i32, start: i32| at.abs_diff(start) as usize;
    for row in 0..seen.height as usize {
        let source =
            (from(seen.y, picture.y) + row) * picture.width as usize + from(seen.x, picture.x);
        let target =
            ((from(seen.y, rect.y) + row) * rect.width as usize + from(seen.x, rect.x)) * PIXEL;
        let width = seen.width as usize;
        // The server may send fewer pixels than it says.
        let source = cursor.cursor_image.get(source..source + width);
        let target = pixels.get_mut(target..target + width * PIXEL);
        if let (Some(source), Some(target)) = (source, target) {
            for (over, under) in source.iter().zip(target.as_chunks_mut().0) {
                *under = blend(*over, *under);
            }
        }
    }
}

/// `over` is multiplied by its opacity already.
fn blend(over: u32, under: [u8; PIXEL]) -> [u8; PIXEL] {
    let [blue, green, red, opacity] = over.to_le_bytes();
    let rest = 255 - u32::from(opacity);
    let mix = |over: u8, under: u8| {
        let mixed = u32::from(over) + (u32::from(under) * rest + 127) / 255;
        mixed.min(255) as u8
    };
    [
        mix(blue, under[0]),
        mix(green, under[1]),
        mix(red, under[2]),
        under[3],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(x: i16, y: i16, image: Vec<u32>) -> GetCursorImageReply {
        GetCursorImageReply {
            sequence: 0,
            length: 0,
            x,
            y,
            width: 2,
            height: 2,
            xhot: 1,
            yhot: 1,
            cursor_serial: 1,
            cursor_image: image,
        }
    }

    const RECT: Rect = Rect {
        x: 10,
        y: 20,
        width: 2,
        height: 2,
    };

    #[test]
    fn only_what_is_within_the_frame_is_drawn() {
        let image = vec![0xff00_0001, 0xff00_0002, 0xff00_0003, 0xff00_0004];
        let drawn = |x, y| {
            let mut pixels = [0; 16];
            draw(&cursor(x, y, image.clone()), RECT, &mut pixels);
            [pixels[0], pixels[4], pixels[8], pixels[12]]
        };
        assert_eq!(drawn(11, 21), [1, 2, 3, 4]);
        assert_eq!(drawn(10, 20), [4, 0, 0, 0]);
        assert_eq!(drawn(12, 22), [0, 0, 0, 1]);
        assert_eq!(drawn(9, 20), [0; 4]);
        assert_eq!(drawn(i16::MIN, i16::MAX), [0; 4]);
    }

    #[test]
    fn opacity_mixes() {
        assert_eq!(blend(0x8080_0000, [255, 255, 255, 7]), [127, 127, 255, 7]);
        assert_eq!(blend(0, [1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(blend(0xff01_0203, [9; 4]), [3, 2, 1, 9]);
        // Not multiplied as it should be.
        assert_eq!(blend(0x00ff_ffff, [200; 4]), [255, 255, 255, 200]);
    }

    #[test]
    fn a_picture_shorter_than_it_says_is_no_fault() {
        let mut pixels = [0; 16];
        draw(&cursor(11, 21, vec![0xff00_0001]), RECT, &mut pixels);
        assert_eq!(pixels, [0; 16]);
    }
}
