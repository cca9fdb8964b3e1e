//! One game, step by step: where the walls are, where the player is, and whether he still lives. No
//! clock and no pixels; the same seed and the same turns give the same game.
//!
//! Distances are those of a hexagon about the centre (how far its corners are away), in points of
//! which a picture is 360 high. Angles are turns, and lane `n` of six reaches from `n/6` to `(n+1)/6`.

use std::collections::VecDeque;

use crate::rows::{DEPTH, LANES, Row, Rows, TURNING, speed_after};
use crate::score::Score;

/// Steps per second.
pub const RATE: u32 = 120;
/// The hexagon in the middle: walls end there.
pub const CORE: f64 = 36.0;
/// Where the player is.
pub const ORBIT: f64 = 50.0;
/// Walls that are further away are not known to the world yet.
const HORIZON: f64 = 480.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turn {
    Left,
    Right,
    #[default]
    None,
}

#[derive(Debug, Clone)]
pub struct World {
    rows: VecDeque<Row>,
    source: Rows,
    speed: f64,
    travelled: f64,
    /// In `0.0..1.0`.
    angle: f64,
    steps: u32,
    alive: bool,
}

impl World {
    /// `speed` is a factor for how fast walls come.
    pub fn new(seed: u64, speed: f64) -> Self {
        let mut world = Self {
            rows: VecDeque::new(),
            source: Rows::new(seed, speed),
            speed,
            travelled: 0.0,
            angle: 0.25,
            steps: 0,
            alive: true,
        };
        world.make_rows();
        world
    }

    /// One `RATE`-th of a second. Nothing moves after the end.
    pub fn step(&mut self, turn: Turn) {
        if !self.alive {
            return;
        }
        self.steps += 1;
        self.travelled += speed_after(self.travelled) * self.speed / f64::from(RATE);
        self.make_rows();
        if self.is_hit(self.lane()) {
            self.alive = false;
            return;
        }
        self.turn(turn);
    }

    fn turn(&mut self, turn: Turn) {
        let by = TURNING / f64::from(RATE);
        let angle = match turn {
            Turn::Left => self.angle - by,
            Turn::Right => self.angle + by,
            Turn::None => return,
        };
        let angle = angle.rem_euclid(1.0);
        // A wall beside the player does not kill: it is in the way.
        if !self.is_hit(lane_at(angle)) {
            self.angle = angle;
        }
    }

    fn make_rows(&mut self) {
        while self
            .rows
            .back()
            .is_none_or(|row| row.start - self.travelled < HORIZON)
        {
            let row = self.source.make();
            self.rows.push_back(row);
        }
        while self
            .rows
            .front()
            .is_some_and(|row| row.start + DEPTH - self.travelled < CORE)
        {
            self.rows.pop_front();
        }
    }

    /// Whether a wall is where a player in this lane is.
    fn is_hit(&self, lane: u8) -> bool {
        self.rows()
            .take_while(|(near, _)| *near <= ORBIT)
            .any(|(near, row)| near + DEPTH > ORBIT && row.blocks(lane))
    }

    /// Rows from the inside to the outside, with the distance of their near edges.
    pub fn rows(&self) -> impl Iterator<Item = (f64, &Row)> {
        self.rows
            .iter()
            .map(|row| (row.start - self.travelled, row))
    }

    pub const fn angle(&self) -> f64 {
        self.angle
    }

    pub fn lane(&self) -> u8 {
        lane_at(self.angle)
    }

    pub const fn is_alive(&self) -> bool {
        self.alive
    }

    pub const fn score(&self) -> Score {
        Score::of_steps(self.steps, RATE)
    }

    /// Seconds since the beginning.
    pub fn elapsed(&self) -> f64 {
        f64::from(self.steps) / f64::from(RATE)
    }
}

fn lane_at(angle: f64) -> u8 {
    ((angle * f64::from(LANES)) as u8).min(LANES - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rows::lanes_between;

    /// Turns to the nearest gap of the row that comes next, and to nothing else.
    fn sensible_turn(world: &World) -> Turn {
        let next = world.rows().find(|(near, _)| near + DEPTH > ORBIT);
        let Some((_, row)) = next else {
            return Turn::None;
        };
        let lane = world.lane();
        let Some(gap) = row.gaps().min_by_key(|&gap| lanes_between(lane, gap)) else {
            return Turn::None;
        };
        match (LANES + gap - lane) % LANES {
            0 => Turn::None,
            1..=3 => Turn::Right,
            _ => Turn::Left,
        }
    }

    fn play(seed: u64, speed: f64, steps: u32, turn: impl Fn(&World, u32) -> Turn) -> World {
        let mut world = World::new(seed, speed);
        for step in 0..steps {
            let turn = turn(&world, step);
            world.step(turn);
        }
        world
    }

    #[test]
    fn doing_nothing_ends_soon() {
        for seed in 0..100 {
            let world = play(seed, 1.0, 60 * RATE, |_, _| Turn::None);
            assert!(!world.is_alive(), "seed {seed}");
        }
    }

    #[test]
    fn a_wall_beside_the_player_is_in_the_way() {
        let mut world = World::new(1, 1.0);
        world.rows.clear();
        world.rows.push_back(Row {
            walls: 0b11_1101,
            start: ORBIT + 1.0,
        });
        for _ in 0..10 {
            world.step(Turn::Right);
        }
        assert!(world.is_alive());
        assert_eq!(world.lane(), 1);
        world.step(Turn::Left);
        assert!(world.angle() < 2.0 / 6.0);
    }

    #[test]
    fn turns_go_all_the_way_round() {
        let mut world = World::new(1, 1.0);
        for _ in 0..40 {
            world.step(Turn::Left);
        }
        assert!((world.angle() - 0.95).abs() < 1e-9, "{}", world.angle());
        world.step(Turn::Right);
        assert!((world.angle() - 0.9575).abs() < 1e-9);
    }

    #[test]
    fn nothing_moves_after_the_end() {
        let world = play(3, 1.0, 60 * RATE, |_, _| Turn::None);
        let mut later = world.clone();
        later.step(Turn::Left);
        assert_eq!(later.score(), world.score());
        assert!((later.angle() - world.angle()).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn the_same_seed_and_turns_give_the_same_game(
            seed: u64,
            turns in prop::collection::vec(0..3_u8, 1..2000),
        ) {
            let turn = |_: &World, step: u32| match turns[step as usize % turns.len()] {
                0 => Turn::Left,
                1 => Turn::Right,
                _ => Turn::None,
            };
            let (a, b) = (play(seed, 1.0, 2000, turn), play(seed, 1.0, 2000, turn));
            prop_assert_eq!(a.score(), b.score());
            prop_assert_eq!(a.rows().collect::<Vec<_>>(), b.rows().collect::<Vec<_>>());
        }

        /// Far beyond the point from which it gets no harder.
        #[test]
        fn a_gap_can_always_be_reached(seed: u64, speed in 0.25..4.0_f64) {
            let world = play(seed, speed, 200 * RATE, |world, _| sensible_turn(world));
            prop_assert!(world.is_alive(), "ended after {}", world.elapsed());
        }
    }
}
