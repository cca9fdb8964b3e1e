//! Which way to turn: all ways to turn are followed through the walls that can be seen, and the one
//! that lives longest with the most room is taken. Pure: sights in, turns out.

use std::collections::VecDeque;
use std::time::Duration;

use super::LANES;
use super::eyes::Field;

/// The rules of the game as anybody learns them who plays it: turns per second with a key held, where
/// the player is, and how fast walls come at first.
const TURNING: f64 = 0.9;
const ORBIT: f64 = 50.0;
const FIRST_SPEED: f64 = 150.0;
/// Seconds from a picture to the key that follows from it, where keys are not delayed on purpose.
const LEAD: f64 = 0.010;

/// The circle is cut into cells; a turning player goes one cell in one tick.
const CELLS_PER_LANE: usize = 12;
const CELLS: usize = CELLS_PER_LANE * LANES;
const TICK: f64 = 1.0 / (CELLS as f64 * TURNING);
/// So far it is thought ahead.
const TICKS: usize = 110;
/// A wall may come so many ticks before or after it is expected.
const DOUBT: usize = 2;
/// Cells beside a wall that are better left alone.
const MARGIN: usize = 2;

/// What is to be avoided, and how much.
const DEATH: f32 = 1000.0;
const DOUBTFUL: f32 = 20.0;
const TIGHT: f32 = 1.0;
const MOVE: f32 = 0.02;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turn {
    Left,
    Right,
    #[default]
    None,
}

#[derive(Debug)]
pub struct Policy {
    speed: Speed,
    /// Seconds from a picture to the key that follows from it.
    lead: f64,
    /// What was decided, and when: the last ones are still on their way to the game.
    decided: VecDeque<(f64, Turn)>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::with_delay(Duration::ZERO)
    }
}

impl Policy {
    /// For keys that arrive so much later than they are pressed.
    pub fn with_delay(delay: Duration) -> Self {
        Self {
            speed: Speed::new(),
            lead: LEAD + delay.as_secs_f64(),
            decided: VecDeque::new(),
        }
    }

    /// `at` is the time of the sight, on any clock that runs like the game's.
    pub fn decide(&mut self, field: &Field, at: Duration) -> Turn {
        let speed = self.speed.learn(field, at);
        let now = at.as_secs_f64();
        // Until the key arrives, those before it have their way.
        let player = field.player + TURNING * LANES as f64 * self.on_its_way(now);
        let cell = (player * CELLS_PER_LANE as f64).floor() as i64;
        let cell = cell.rem_euclid(CELLS as i64) as usize;
        let turn = plan(&Danger::foresee(field, speed, self.lead), cell);
        self.decided.push_back((now, turn));
        turn
    }

    /// Seconds of turning, to the right, by keys that were decided on and have not arrived.
    fn on_its_way(&mut self, now: f64) -> f64 {
        let since = now - self.lead;
        // The one before still holds when the next arrives.
        while self.decided.get(1).is_some_and(|(at, _)| *at <= since) {
            self.decided.pop_front();
        }
        let ends = self.decided.iter().skip(1).map(|(at, _)| *at).chain([now]);
        let turning = self.decided.iter().zip(ends).map(|((at, turn), end)| {
            let lasts = (end - at.max(since)).max(0.0);
            match turn {
                Turn::Left => -lasts,
                Turn::Right => lasts,
                Turn::None => 0.0,
            }
        });
        turning.sum()
    }
}

/// What it costs to be in a lane at a tick.
#[derive(Clone, Copy, Default)]
struct Price {
    middle: f32,
    /// Near the edges of the lane.
    left: f32,
    right: f32,
}

struct Danger {
    prices: Vec<[Price; LANES]>,
}

impl Danger {
    fn foresee(field: &Field, speed: f64, lead: f64) -> Self {
        let blocked: Vec<[bool; LANES]> = (0..TICKS)
            .map(|tick| {
                let place = ORBIT + speed * (tick as f64 * TICK + lead);
                let is_there = |&(near, far): &(f64, f64)| near <= place && place < far;
                std::array::from_fn(|lane| field.walls[lane].iter().any(is_there))
            })
            .collect();
        let prices = (0..TICKS)
            .map(|tick| {
                let around = &blocked[tick.saturating_sub(DOUBT)..(tick + DOUBT + 1).min(TICKS)];
                let doubtful: [bool; LANES] =
                    std::array::from_fn(|lane| around.iter().any(|blocked| blocked[lane]));
                std::array::from_fn(|lane| price(lane, &blocked[tick], &doubtful))
            })
            .collect();
        Self { prices }
    }
}

fn price(lane: usize, blocked: &[bool; LANES], doubtful: &[bool; LANES]) -> Price {
    let middle = if blocked[lane] {
        DEATH
    } else if doubtful[lane] {
        DOUBTFUL
    } else {
        0.0
    };
    let edge = |beside: usize| middle + if doubtful[beside % LANES] { TIGHT } else { 0.0 };
    Price {
        middle,
        left: edge(lane + LANES - 1),
        right: edge(lane + 1),
    }
}

/// The first turn of the cheapest way through all that is foreseen.
fn plan(danger: &Danger, cell: usize) -> Turn {
    let mut later = [0.0_f32; CELLS];
    for tick in (1..TICKS).rev() {
        // Early moves are cheaper than late ones: then there is time left for what is not seen yet.
        let step = MOVE * (1.0 + tick as f32 / TICKS as f32);
        let mut now = [0.0; CELLS];
        for (cell, cost) in now.iter_mut().enumerate() {
            let prices = &danger.prices[tick][cell / CELLS_PER_LANE];
            let price = match cell % CELLS_PER_LANE {
                place if place < MARGIN => prices.left,
                place if place >= CELLS_PER_LANE - MARGIN => prices.right,
                _ => prices.middle,
            };
            let moved = later[before(cell)].min(later[after(cell)]) + step;
            *cost = price + moved.min(later[cell]);
        }
        later = now;
    }
    let stay = later[cell];
    let (left, right) = (later[before(cell)] + MOVE, later[after(cell)] + MOVE);
    if stay <= left && stay <= right {
        Turn::None
    } else if left < right {
        Turn::Left
    } else {
        Turn::Right
    }
}

const fn before(cell: usize) -> usize {
    (cell + CELLS - 1) % CELLS
}

const fn after(cell: usize) -> usize {
    (cell + 1) % CELLS
}

/// How fast walls come, learned from how far they came between sights.
#[derive(Debug)]
struct Speed {
    /// Way and time, of which the older counts less.
    way: f64,
    time: f64,
    before: Option<(Duration, [Option<f64>; LANES])>,
}

impl Speed {
    /// What an older sight still counts after a newer one.
    const KEPT: f64 = 0.95;
    /// Walls that are nearer may be behind the player, and are cut off by the heart.
    const NEAREST: f64 = 60.0;
    /// Sights that are further apart say little.
    const LONGEST: f64 = 0.15;
    const FASTEST: f64 = 1600.0;

    const fn new() -> Self {
        Self {
            way: FIRST_SPEED * 0.3,
            time: 0.3,
            before: None,
        }
    }

    fn learn(&mut self, field: &Field, at: Duration) -> f64 {
        let ends = |wall: &(f64, f64)| wall.1;
        let nearest = std::array::from_fn(|lane| {
            let mut ends = field.walls[lane].iter().map(ends);
            ends.find(|&end| end > Self::NEAREST)
        });
        if let Some((then, ends)) = self.before.replace((at, nearest)) {
            self.compare(at.saturating_sub(then).as_secs_f64(), &ends, &nearest);
        }
        self.way / self.time
    }

    fn compare(&mut self, time: f64, then: &[Option<f64>; LANES], now: &[Option<f64>; LANES]) {
        if time <= 0.0 || time > Self::LONGEST {
            return;
        }
        let mut ways: Vec<f64> = then
            .iter()
            .zip(now)
            .filter_map(|(then, now)| Some((*then)? - (*now)?))
            .filter(|&way| way > 0.0 && way < Self::FASTEST * time)
            .collect();
        ways.sort_by(f64::total_cmp);
        if let Some(&way) = ways.get(ways.len() / 2) {
            self.way = self.way * Self::KEPT + way;
            self.time = self.time * Self::KEPT + time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(player: f64, walls: [&[(f64, f64)]; LANES]) -> Field {
        Field {
            player,
            walls: walls.map(<[(f64, f64)]>::to_vec),
        }
    }

    const WALL: &[(f64, f64)] = &[(120.0, 142.0)];

    fn decide(field: &Field) -> Turn {
        Policy::default().decide(field, Duration::ZERO)
    }

    #[test]
    fn it_stays_where_it_is_safe() {
        assert_eq!(decide(&field(1.5, [&[]; LANES])), Turn::None);
        let gap = [WALL, &[], WALL, WALL, WALL, WALL];
        assert_eq!(decide(&field(1.5, gap)), Turn::None);
    }

    #[test]
    fn it_turns_to_the_nearer_gap() {
        let gaps = [WALL, &[], WALL, WALL, &[], WALL];
        assert_eq!(decide(&field(2.2, gaps)), Turn::Left);
        assert_eq!(decide(&field(3.8, gaps)), Turn::Right);
        // Round the end of the circle too.
        let gap = [&[], WALL, WALL, WALL, WALL, WALL];
        assert_eq!(decide(&field(5.5, gap)), Turn::Right);
        assert_eq!(decide(&field(1.2, gap)), Turn::Left);
    }

    #[test]
    fn it_thinks_of_the_row_after_the_next() {
        // Two gaps are equally near; only behind one of them there is a way on in time.
        let both: &[(f64, f64)] = &[(80.0, 102.0), (120.0, 142.0)];
        let late: &[(f64, f64)] = &[(120.0, 142.0)];
        let early: &[(f64, f64)] = &[(80.0, 102.0)];
        let rows = [both, late, early, &[], both, both];
        assert_eq!(decide(&field(2.5, rows)), Turn::Right);
    }

    #[test]
    fn it_learns_how_fast_walls_come() {
        let mut speed = Speed::new();
        let mut learned = 0.0;
        for frame in 0..120_u32 {
            let end = 400.0 - f64::from(frame) * 5.0 % 300.0;
            let walls: &[(f64, f64)] = &[(end - 22.0, end)];
            let at = Duration::from_secs(1).mul_f64(f64::from(frame) / 60.0);
            learned = speed.learn(&field(0.0, [walls; LANES]), at);
        }
        assert!((learned - 300.0).abs() < 15.0, "{learned}");
    }
}
