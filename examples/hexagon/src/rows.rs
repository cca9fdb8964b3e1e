//! Which walls come, and how far apart. Every row has a gap, and from every gap of a row a gap of the
//! next one can be reached in time by turning: that is the promise of the game.

use crate::seed::Chance;

pub const LANES: u8 = 6;
/// Turns per second of a player who holds a key.
pub const TURNING: f64 = 0.9;
/// From the near edge of a wall to its far edge.
pub const DEPTH: f64 = 22.0;

const ALL: u8 = 0b11_1111;
/// Where the first row begins, or a little further: a moment to get ready.
const FIRST: f64 = 340.0;
const FIRST_VARIES: u64 = 120;
/// So many rows at the beginning have wide gaps.
const EASY: u64 = 3;
/// Walls come this much per second at first, ...
const SLOWEST: f64 = 150.0;
/// ... and this much when they have come all of `RISE`.
const FASTEST: f64 = 400.0;
const RISE: f64 = 9_000.0;
/// Seconds to spare between two rows, beyond those for turning.
const MOST_SPARE: f64 = 0.40;
const LEAST_SPARE: f64 = 0.12;
/// A row reaches the player at most so far behind the moment for which its distance was chosen.
const AHEAD: f64 = 600.0;

/// Walls at one distance, one bit per lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    pub walls: u8,
    /// Distance of its near edge from the centre before anything moved.
    pub start: f64,
}

impl Row {
    pub const fn blocks(&self, lane: u8) -> bool {
        self.walls & (1 << (lane % LANES)) != 0
    }

    pub fn gaps(&self) -> impl Iterator<Item = u8> + use<'_> {
        (0..LANES).filter(|&lane| !self.blocks(lane))
    }
}

/// Speed of the walls after they have come `travelled`. It follows from the way and not from the
/// time, so that it is known for a row when that row is made.
pub fn speed_after(travelled: f64) -> f64 {
    SLOWEST + (FASTEST - SLOWEST) * (travelled / RISE).clamp(0.0, 1.0)
}

/// Lanes between two lanes, the shorter way round.
pub const fn lanes_between(a: u8, b: u8) -> u8 {
    let apart = a.abs_diff(b) % LANES;
    if apart > LANES / 2 {
        LANES - apart
    } else {
        apart
    }
}

/// How rows follow each other for a while.
#[derive(Debug, Clone, Copy)]
enum Phrase {
    /// One gap anywhere.
    Ring,
    /// Two gaps, one opposite of the other.
    Opposite,
    /// Every other lane.
    Comb,
    /// A gap of three or four lanes.
    Open,
    /// A gap of two or three lanes.
    Wide,
    /// One gap, each time a lane further.
    Spiral { clockwise: bool },
    /// One gap, now here, now two lanes away.
    Zigzag,
}

/// All rows of a game, one after the other.
#[derive(Debug, Clone)]
pub struct Rows {
    chance: Chance,
    /// Factor of all speeds.
    speed: f64,
    phrase: Phrase,
    /// Rows left of the phrase.
    left: u64,
    /// The lane that the phrase turns about.
    lane: u8,
    last: Option<Row>,
}

impl Rows {
    pub fn new(seed: u64, speed: f64) -> Self {
        Self {
            chance: Chance::new(seed),
            speed,
            phrase: Phrase::Open,
            left: EASY,
            lane: 0,
            last: None,
        }
    }

    pub fn make(&mut self) -> Row {
        let walls = self.next_walls();
        let start = match self.last {
            Some(last) => {
                let end = last.start + DEPTH;
                end + self.room(last.walls, walls, end)
            }
            None => FIRST + self.chance.below(FIRST_VARIES) as f64,
        };
        let row = Row { walls, start };
        self.last = Some(row);
        row
    }

    /// Way between two rows: enough to turn from the worst gap of the first to a gap of the second.
    fn room(&self, from: u8, to: u8, end: f64) -> f64 {
        let row = |walls: u8| Row { walls, start: 0.0 };
        let (from, to) = (row(from), row(to));
        let nearest = |gap: u8| {
            to.gaps()
                .map(|other| lanes_between(gap, other))
                .min()
                .unwrap_or(0)
        };
        let lanes = from.gaps().map(nearest).max().unwrap_or(0);
        let turning = f64::from(lanes) / f64::from(LANES) / TURNING;
        let hardness = (end / RISE).clamp(0.0, 1.0);
        let spare = MOST_SPARE + (LEAST_SPARE - MOST_SPARE) * hardness;
        (turning + spare) * speed_after(end + AHEAD) * self.speed
    }

    fn next_walls(&mut self) -> u8 {
        if self.left == 0 {
            self.begin_phrase();
        }
        self.left -= 1;
        let gaps: u8 = match self.phrase {
            Phrase::Ring => {
                self.lane = self.any_lane();
                1
            }
            Phrase::Opposite => {
                self.lane = self.any_lane();
                0b00_1001
            }
            Phrase::Comb => {
                self.lane = self.any_lane();
                0b01_0101
            }
            Phrase::Open => {
                self.lane = self.any_lane();
                0b00_0111 << self.chance.below(2) | 1
            }
            Phrase::Wide => {
                self.lane = self.any_lane();
                if self.chance.below(2) == 0 {
                    0b00_0011
                } else {
                    0b00_0111
                }
            }
            Phrase::Spiral { clockwise } => {
                self.lane = (self.lane + if clockwise { 1 } else { LANES - 1 }) % LANES;
                1
            }
            Phrase::Zigzag => {
                let there = self.left.is_multiple_of(2);
                self.lane = (self.lane + if there { 2 } else { LANES - 2 }) % LANES;
                1
            }
        };
        let doubled = u16::from(gaps) << self.lane;
        ALL & !((doubled | (doubled >> LANES)) as u8)
    }

    fn begin_phrase(&mut self) {
        (self.phrase, self.left) = match self.chance.below(8) {
            0 | 1 => (Phrase::Ring, 1 + self.chance.below(3)),
            2 => (Phrase::Opposite, 1 + self.chance.below(3)),
            3 => (Phrase::Comb, 2 + self.chance.below(3)),
            4 => (Phrase::Wide, 1 + self.chance.below(2)),
            5 | 6 => {
                let clockwise = self.chance.below(2) == 0;
                (Phrase::Spiral { clockwise }, 4 + self.chance.below(5))
            }
            _ => (Phrase::Zigzag, 4 + self.chance.below(3)),
        };
    }

    const fn any_lane(&mut self) -> u8 {
        self.chance.below(LANES as u64) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_way_round_counts() {
        assert_eq!(lanes_between(0, 5), 1);
        assert_eq!(lanes_between(1, 4), 3);
        assert_eq!(lanes_between(3, 3), 0);
    }

    #[test]
    fn walls_get_faster_up_to_a_bound() {
        assert!(speed_after(0.0) < speed_after(5_000.0));
        assert!((speed_after(1e9) - FASTEST).abs() < 1e-9);
    }

    #[test]
    fn rows_have_walls_and_gaps_and_do_not_overlap() {
        for seed in 0..50 {
            let mut rows = Rows::new(seed, 1.0);
            let mut end = 0.0;
            for _ in 0..500 {
                let row = rows.make();
                assert!(row.walls & !ALL == 0 && row.walls != 0);
                assert!(row.gaps().count() >= 1);
                assert!(row.start > end);
                end = row.start + DEPTH;
            }
        }
    }
}
