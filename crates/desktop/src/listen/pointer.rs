//! Where the pointer was at each of several raw events. They say by how much it moved or where to,
//! but not which of both; asking the server tells where it is after the last. Both together tell the
//! whole way. Pure.

use crate::geometry::{Point, Size};

/// What a raw event says of the pointer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    Motion {
        x: Option<f64>,
        y: Option<f64>,
    },
    /// A button: the pointer stays.
    Rest,
}

/// Ways through many events that are tried.
const MOST_WAYS: usize = 64;

#[derive(Debug)]
pub(super) struct Track {
    size: Size,
    at: (f64, f64),
    /// What the last motion was is the best guess for the next.
    relative: bool,
}

impl Track {
    pub(super) fn new(size: Size, at: Point) -> Self {
        Self {
            size,
            at: (at.x.into(), at.y.into()),
            relative: false,
        }
    }

    /// The place of each step; after the last the pointer was at `end`.
    pub(super) fn follow(&mut self, steps: &[Step], end: Point) -> Vec<Point> {
        let motions = steps.iter().filter(|step| **step != Step::Rest).count();
        // The first so many motions say where to, the others by how much.
        let ways: Vec<usize> = if self.relative {
            (0..=motions).take(MOST_WAYS).collect()
        } else {
            (0..=motions).rev().take(MOST_WAYS - 1).chain([0]).collect()
        };
        let exact = ways.into_iter().find_map(|absolute| {
            let way = self.way(steps, absolute);
            (way.last().copied().map(pixel) == Some(end)).then_some((absolute, way))
        });
        // Real mice move by parts of a pixel, which add up.
        let found = exact.or_else(|| {
            let mut way = self.way(steps, 0);
            let last = *way.last()?;
            for place in way.iter_mut().rev().take_while(|place| **place == last) {
                *place = (end.x.into(), end.y.into());
            }
            is_near(last, end).then_some((0, way))
        });
        self.at = (end.x.into(), end.y.into());
        match found {
            Some((absolute, way)) => {
                if motions > 0 {
                    self.relative = absolute < motions;
                }
                way.into_iter().map(pixel).collect()
            }
            // Something else moved it as well: a program, or the edge of a window it is kept in.
            None => vec![end; steps.len()],
        }
    }

    fn way(&self, steps: &[Step], absolute: usize) -> Vec<(f64, f64)> {
        let (mut x, mut y) = self.at;
        let mut motions = 0;
        let mut place = |step: &Step| {
            if let Step::Motion { x: new_x, y: new_y } = *step {
                if motions < absolute {
                    (x, y) = (new_x.unwrap_or(x), new_y.unwrap_or(y));
                } else {
                    (x, y) = (x + new_x.unwrap_or(0.0), y + new_y.unwrap_or(0.0));
                }
                motions += 1;
                x = x.clamp(0.0, f64::from(self.size.width.saturating_sub(1)));
                y = y.clamp(0.0, f64::from(self.size.height.saturating_sub(1)));
            }
            (x, y)
        };
        steps.iter().map(&mut place).collect()
    }
}

fn pixel((x, y): (f64, f64)) -> Point {
    // Kept within the screen above.
    Point {
        x: x as i32,
        y: y as i32,
    }
}

fn is_near((x, y): (f64, f64), point: Point) -> bool {
    (x - f64::from(point.x)).abs() <= 1.0 && (y - f64::from(point.y)).abs() <= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn p(x: i32, y: i32) -> Point {
        Point { x, y }
    }

    const fn by(x: f64, y: f64) -> Step {
        Step::Motion {
            x: Some(x),
            y: Some(y),
        }
    }

    fn track() -> Track {
        Track::new(Size::new(1280, 800), p(600, 400))
    }

    #[test]
    fn motions_to_a_place() {
        let steps = [by(50.0, 60.0), Step::Rest, by(70.0, 80.0), Step::Rest];
        let way = track().follow(&steps, p(70, 80));
        assert_eq!(way, [p(50, 60), p(50, 60), p(70, 80), p(70, 80)]);
    }

    #[test]
    fn motions_by_so_much() {
        let mut track = track();
        let steps = [by(10.0, -5.0), Step::Rest, by(-1.0, 0.0)];
        assert_eq!(
            track.follow(&steps, p(609, 395)),
            [p(610, 395), p(610, 395), p(609, 395)]
        );
        assert_eq!(track.follow(&[by(1.0, 1.0)], p(610, 396)), [p(610, 396)]);
    }

    #[test]
    fn parts_of_a_pixel_add_up() {
        let mut track = track();
        assert_eq!(track.follow(&[by(0.4, 0.0)], p(600, 400)), [p(600, 400)]);
        assert_eq!(
            track.follow(&[by(0.7, 0.0), Step::Rest], p(601, 400)),
            [p(601, 400); 2]
        );
    }

    #[test]
    fn near_the_corner_both_look_alike() {
        let mut track = track();
        assert_eq!(track.follow(&[by(1.0, 1.0)], p(1, 1)), [p(1, 1)]);
        assert_eq!(track.follow(&[by(2.0, 2.0)], p(3, 3)), [p(3, 3)]);
        assert_eq!(track.follow(&[by(2.0, 2.0)], p(2, 2)), [p(2, 2)]);
    }

    #[test]
    fn a_place_and_then_by_so_much() {
        let steps = [by(50.0, 195.0), Step::Rest, by(30.0, 30.0), by(7.0, 7.0)];
        let way = track().follow(&steps, p(37, 37));
        assert_eq!(way, [p(50, 195), p(50, 195), p(30, 30), p(37, 37)]);
    }

    #[test]
    fn the_edge_of_the_screen_stops_it() {
        let mut track = track();
        assert_eq!(track.follow(&[by(-20.0, 5000.0)], p(0, 799)), [p(0, 799)]);
        assert_eq!(
            track.follow(&[by(5000.0, 0.0)], p(1279, 799)),
            [p(1279, 799)]
        );
        assert_eq!(track.follow(&[by(0.0, 0.0)], p(0, 0)), [p(0, 0)]);
    }

    #[test]
    fn what_a_program_moved_is_where_the_server_says() {
        let mut track = track();
        assert_eq!(track.follow(&[Step::Rest], p(9, 9)), [p(9, 9)]);
        assert_eq!(
            track.follow(&[by(1.0, 1.0), Step::Rest], p(700, 1)),
            [p(700, 1); 2]
        );
        assert_eq!(track.follow(&[], p(3, 3)), []);
        assert_eq!(track.follow(&[Step::Rest], p(3, 3)), [p(3, 3)]);
        let lost = by(f64::NAN, f64::INFINITY);
        assert_eq!(track.follow(&[lost], p(3, 3)), [p(3, 3)]);
    }

    #[test]
    fn many_events_at_once_are_followed() {
        let steps: Vec<Step> = (0..2000).map(|n| by(f64::from(n % 1280), 5.0)).collect();
        let way = track().follow(&steps, p(719, 5));
        assert_eq!((way[0], way[1999]), (p(0, 5), p(719, 5)));
        let steps = vec![by(0.5, 0.0); 300];
        assert_eq!(track().follow(&steps, p(750, 400))[299], p(750, 400));
    }
}
