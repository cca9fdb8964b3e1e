//! What a game looks like: field, walls, player and text on a canvas. Knows no window.

use std::f64::consts::TAU;

use crate::canvas::{Canvas, Colour, Point};
use crate::font::Font;
use crate::game::View;
use crate::rows::{DEPTH, LANES};
use crate::world::{CORE, ORBIT, World};

pub const FIELD: [Colour; 2] = [0x001b_1f3a, 0x0023_2850];
pub const WALL: Colour = 0x00f2_b632;
pub const HEART: Colour = 0x002b_8ca8;
pub const PLAYER: Colour = 0x00ff_3d6e;
pub const TEXT: Colour = 0x00ff_ffff;
/// Behind text.
pub const BAND: Colour = 0x0000_0000;

/// Points of the world from the upper to the lower edge.
const HEIGHT: f64 = 360.0;
const WIDTH: f64 = 480.0;
/// The field sways by so many turns, to and fro once in so many seconds.
const SWAY: f64 = 0.35;
const PERIOD: f64 = 17.0;
/// Length and half of the width of the player.
const MARK: (f64, f64) = (10.0, 6.0);
/// Never smaller, so that it can be read.
const SMALLEST_TEXT: usize = 16;

#[derive(Debug)]
pub struct Scene {
    canvas: Canvas,
    /// Pixels per point.
    scale: f64,
    text: Font,
    large: Font,
}

impl Scene {
    pub fn new(width: u16, height: u16) -> Self {
        let scale = (f64::from(height) / HEIGHT).min(f64::from(width) / WIDTH);
        let size = |points: f64| ((points * scale).round() as usize).max(SMALLEST_TEXT);
        Self {
            canvas: Canvas::new(width, height),
            scale,
            text: Font::new(size(20.0)),
            large: Font::new(size(34.0)),
        }
    }

    pub const fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    pub fn draw(&mut self, view: View<'_>) {
        match view {
            View::Title => self.draw_title(),
            View::Playing(world) => {
                self.draw_world(world);
                self.draw_time(&format!("TIME {}", world.score()));
            }
            View::Over { world, last, best } => {
                self.draw_world(world);
                self.draw_end(&format!("LAST {last}"), &format!("BEST {best}"));
            }
        }
    }

    fn draw_title(&mut self) {
        self.draw_field(0.0);
        let top = self.pixels(70.0);
        write_line(&mut self.canvas, &self.large, "HEXAGON RUN", top);
        self.draw_bottom("PRESS SPACE TO START");
    }

    fn draw_time(&mut self, time: &str) {
        let margin = self.text.height() / 3;
        self.canvas.fill_rect(
            0,
            0,
            self.text.width(time) + 2 * margin,
            self.text.height() + 2 * margin,
            BAND,
        );
        self.text
            .write(&mut self.canvas, time, margin, margin, TEXT);
    }

    fn draw_end(&mut self, last: &str, best: &str) {
        // Above the player, wherever he is.
        let (first, second) = (self.pixels(28.0), self.pixels(88.0));
        write_line(&mut self.canvas, &self.large, last, first);
        write_line(&mut self.canvas, &self.text, best, second);
        self.draw_bottom("PRESS SPACE TO RETRY");
    }

    fn draw_bottom(&mut self, text: &str) {
        let top = self.canvas.height() - self.text.height() * 2;
        write_line(&mut self.canvas, &self.text, text, top);
    }

    fn pixels(&self, points: f64) -> usize {
        (points * self.scale) as usize
    }

    /// Lanes and the heart in the middle, turned by `sway`.
    fn draw_field(&mut self, sway: f64) {
        let far = (self.canvas.width() + self.canvas.height()) as f64 / self.scale;
        for lane in 0..LANES {
            let colour = FIELD[usize::from(lane % 2)];
            self.draw_part(lane, 0.0, far, sway, colour);
        }
        for lane in 0..LANES {
            self.draw_part(lane, 0.0, CORE, sway, HEART);
        }
    }

    fn draw_world(&mut self, world: &World) {
        let sway = sway(world.elapsed());
        self.draw_field(sway);
        for (near, row) in world.rows() {
            let (near, far) = (near.max(CORE), near + DEPTH);
            for lane in (0..LANES).filter(|&lane| row.blocks(lane)) {
                self.draw_part(lane, near, far, sway, WALL);
            }
        }
        self.draw_player(world.angle(), sway);
    }

    /// The part of a lane between two distances.
    fn draw_part(&mut self, lane: u8, near: f64, far: f64, sway: f64, colour: Colour) {
        let corner = |lane: u8, distance: f64| {
            let angle = f64::from(lane) / f64::from(LANES) + sway;
            self.place(angle, distance, 0.0)
        };
        let (left, right) = (lane, lane + 1);
        let corners = [
            corner(left, near),
            corner(left, far),
            corner(right, far),
            corner(right, near),
        ];
        self.canvas.fill_convex(&corners, colour);
    }

    /// An arrow whose tip is where the player is.
    fn draw_player(&mut self, angle: f64, sway: f64) {
        // Distances are those of the hexagon: in the middle of a side it is nearer than at a corner.
        let side = 1.0 / f64::from(LANES);
        let off = (angle.rem_euclid(side) - side / 2.0) * TAU;
        let tip = ORBIT * (side / 2.0 * TAU).cos() / off.cos();
        let angle = angle + sway;
        let corners = [
            self.place(angle, tip, 0.0),
            self.place(angle, tip - MARK.0, MARK.1),
            self.place(angle, tip - MARK.0, -MARK.1),
        ];
        self.canvas.fill_convex(&corners, PLAYER);
    }

    /// The pixel at an angle (in turns, from the top, to the right) and distance, moved aside.
    fn place(&self, angle: f64, distance: f64, aside: f64) -> Point {
        let (sin, cos) = (angle * TAU).sin_cos();
        let (x, y) = (distance * sin + aside * cos, aside * sin - distance * cos);
        Point {
            x: self.canvas.width() as f64 / 2.0 + x * self.scale,
            y: self.canvas.height() as f64 / 2.0 + y * self.scale,
        }
    }
}

/// How far the field is turned.
fn sway(elapsed: f64) -> f64 {
    SWAY * (elapsed / PERIOD * TAU).sin()
}

/// A line in the middle, on a band of its own.
fn write_line(canvas: &mut Canvas, font: &Font, text: &str, top: usize) {
    let margin = font.height() / 3;
    canvas.fill_rows(top.saturating_sub(margin), font.height() + 2 * margin, BAND);
    let left = canvas.width().saturating_sub(font.width(text)) / 2;
    font.write(canvas, text, left, top, TEXT);
}
