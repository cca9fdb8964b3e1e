//! What can be seen of the game Hexagon Run in a picture of it: where the player is, and along one ray
//! for each lane, where walls are. Knows how the game looks and nothing else of it.

use std::f64::consts::TAU;
use std::ops::Range;

use super::LANES;

/// Colours of the game, `0xRRGGBB`.
const WALL: u32 = 0x00f2_b632;
const HEART: u32 = 0x002b_8ca8;
const PLAYER: u32 = 0x00ff_3d6e;
const BAND: u32 = 0x0000_0000;
/// Distances of the corners of the heart, and of a ring outside of it that only walls and lanes reach.
const HEART_SIZE: f64 = 36.0;
const RING: f64 = 37.5;
/// As far as it is looked for walls.
const FARTHEST: f64 = 420.0;
/// How far above the lower edge of the window the text is that asks for a key.
const PROMPT: f64 = 27.0;
/// Fewer pixels of the heart are no game.
const SMALLEST_HEART: u32 = 500;
const SMALLEST_PLAYER: u32 = 10;

/// A part of a frame: rows of blue, green, red and a byte without a meaning.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    pub pixels: &'a [u8],
    /// Pixels in a row of the whole frame.
    pub stride: usize,
    pub left: i32,
    pub top: i32,
    pub width: u32,
    pub height: u32,
}

impl Picture<'_> {
    /// `None` outside of the part or of the frame.
    fn colour(&self, x: i32, y: i32) -> Option<u32> {
        if x < 0 || y < 0 || x as u32 >= self.width || y as u32 >= self.height {
            return None;
        }
        let x = usize::try_from(self.left.checked_add(x)?).ok()?;
        let y = usize::try_from(self.top.checked_add(y)?).ok()?;
        if x >= self.stride {
            return None;
        }
        let (pixels, _) = self.pixels.as_chunks();
        pixels.get(y * self.stride + x).copied().map(colour_of)
    }

    /// Pixels of a part of a row; none when it is not in the frame as a whole.
    fn row(&self, y: i32, columns: Range<i32>) -> &[[u8; 4]] {
        let inside =
            self.colour(columns.start, y).is_some() && self.colour(columns.end - 1, y).is_some();
        if !inside {
            return &[];
        }
        let (left, y) = (self.left + columns.start, self.top + y);
        let at = y as usize * self.stride + left as usize;
        let (pixels, _) = self.pixels.as_chunks();
        pixels.get(at..at + columns.len()).unwrap_or_default()
    }
}

const fn colour_of([blue, green, red, _]: [u8; 4]) -> u32 {
    u32::from_be_bytes([0, red, green, blue])
}

/// What the game shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Sight {
    Title,
    Playing(Field),
    Over,
}

/// A game that is played, in the game's own measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// In lanes, from the edge of the first lane on: `0.0..6.0`.
    pub player: f64,
    /// Near and far edges of the walls of each lane, from the inside to the outside.
    pub walls: [Vec<(f64, f64)>; LANES],
}

/// `None` when the game is not to be seen.
pub fn look(picture: &Picture<'_>) -> Option<Sight> {
    let (heart, player) = find_middle(picture);
    let (x, y) = heart.middle(SMALLEST_HEART)?;
    // A hexagon of this area has corners so far away.
    let corner = (f64::from(heart.count) / (1.5 * 3.0_f64.sqrt())).sqrt();
    let view = View {
        picture,
        x,
        y,
        scale: corner / HEART_SIZE,
    };
    let prompted = view.is_prompted();
    let Some(player) = player.middle(SMALLEST_PLAYER) else {
        return prompted.then_some(Sight::Title);
    };
    if prompted {
        return Some(Sight::Over);
    }
    let edge = view.find_edge()?;
    let angle = (player.0 - x).atan2(y - player.1) / TAU;
    let lane = |index: usize| view.walls_along(edge + (index as f64 + 0.5) / LANES as f64);
    Some(Sight::Playing(Field {
        player: (angle - edge).rem_euclid(1.0) * LANES as f64,
        walls: std::array::from_fn(lane),
    }))
}

/// Pixels of one colour.
#[derive(Default)]
struct Patch {
    count: u32,
    x: u64,
    y: u64,
}

impl Patch {
    fn add(&mut self, x: i32, y: i32) {
        self.count += 1;
        self.x += x as u64;
        self.y += y as u64;
    }

    fn middle(&self, least: u32) -> Option<(f64, f64)> {
        let share = |sum: u64| sum as f64 / f64::from(self.count) + 0.5;
        (self.count >= least).then(|| (share(self.x), share(self.y)))
    }
}

/// Heart and player, which are in the middle of the window.
fn find_middle(picture: &Picture<'_>) -> (Patch, Patch) {
    let (mut heart, mut player) = (Patch::default(), Patch::default());
    let (width, height) = (picture.width as i32, picture.height as i32);
    let columns = width / 3..width - width / 3;
    for y in height / 3..height - height / 3 {
        for (x, &pixel) in columns.clone().zip(picture.row(y, columns.clone())) {
            match colour_of(pixel) {
                HEART => heart.add(x, y),
                PLAYER => player.add(x, y),
                _ => {}
            }
        }
    }
    (heart, player)
}

struct View<'a> {
    picture: &'a Picture<'a>,
    /// The centre.
    x: f64,
    y: f64,
    /// Pixels per point of the game.
    scale: f64,
}

impl View<'_> {
    /// The colour at an angle (in turns from the top) and a number of pixels from the centre.
    fn colour(&self, angle: f64, distance: f64) -> Option<u32> {
        let (sin, cos) = (angle * TAU).sin_cos();
        let x = (self.x + distance * sin).floor();
        let y = (self.y - distance * cos).floor();
        self.picture.colour(x as i32, y as i32)
    }

    /// Whether a text asks for a key at the bottom.
    fn is_prompted(&self) -> bool {
        let y = self.picture.height as i32 - (PROMPT * self.scale) as i32;
        let right = self.picture.width as i32 - 3;
        [2, right]
            .into_iter()
            .all(|x| self.picture.colour(x, y) == Some(BAND))
    }

    /// An edge between two lanes, in turns: wherever the colour changes on a ring about the heart.
    /// Edges are a sixth of a turn apart, so all of them together say where they are.
    fn find_edge(&self) -> Option<f64> {
        const SAMPLES: u32 = 360;
        let lanes = LANES as f64;
        let at = |sample: u32| f64::from(sample) / f64::from(SAMPLES);
        let colour = |sample: u32| self.colour(at(sample), RING * self.scale);
        let (mut sin, mut cos) = (0.0, 0.0);
        let mut before = colour(SAMPLES - 1)?;
        for sample in 0..SAMPLES {
            let now = colour(sample)?;
            if now != before {
                let edge = (at(sample) - 0.5 / f64::from(SAMPLES)) * lanes * TAU;
                sin += edge.sin();
                cos += edge.cos();
            }
            before = now;
        }
        let together = sin.hypot(cos) > 0.5;
        together.then(|| sin.atan2(cos) / TAU / lanes)
    }

    /// Walls along the middle of a lane. Behind the edge of the window there is nothing to be seen.
    fn walls_along(&self, angle: f64) -> Vec<(f64, f64)> {
        // In the middle of its sides a hexagon is nearer than at its corners.
        let nearer = (TAU / LANES as f64 / 2.0).cos() * self.scale;
        let mut walls = Vec::new();
        let mut near = None;
        let mut pixel = HEART_SIZE * nearer;
        while pixel < FARTHEST * nearer {
            let colour = self.colour(angle, pixel);
            match (colour == Some(WALL), near) {
                (true, None) => near = Some(pixel / nearer),
                (false, Some(begin)) => {
                    walls.push((begin, pixel / nearer));
                    near = None;
                }
                _ => {}
            }
            if colour.is_none() {
                break;
            }
            pixel += 1.0;
        }
        walls.extend(near.map(|begin| (begin, pixel / nearer)));
        walls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_game_is_not_taken_for_one() {
        for pixels in [vec![0; 4 * 90 * 90], vec![0x55; 4 * 90 * 90], Vec::new()] {
            let picture = Picture {
                pixels: &pixels,
                stride: 90,
                left: -20,
                top: 30,
                width: 480,
                height: u32::MAX / 2_000_000,
            };
            assert_eq!(look(&picture), None);
        }
    }

    #[test]
    fn pixels_outside_are_none() {
        let pixels: Vec<u8> = (0..4 * 4).flat_map(|n| [n, 0, 0, 9]).collect();
        let picture = Picture {
            pixels: &pixels,
            stride: 4,
            left: 2,
            top: 1,
            width: 9,
            height: 9,
        };
        assert_eq!(picture.colour(0, 0), Some(6));
        assert_eq!(picture.colour(1, 2), Some(15));
        for (x, y) in [(-1, 0), (0, -1), (2, 0), (0, 3), (9, 0), (i32::MAX, 0)] {
            assert_eq!(picture.colour(x, y), None, "{x} {y}");
        }
    }
}
