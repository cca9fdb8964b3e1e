//! How long a game lasted, and how that is told: the screen and the file of scores both show the same
//! whole number of hundredths.

use std::fmt;

use serde::{Serialize, Serializer};

/// Hundredths of a second. Shown as `12:34`, written as `12.34`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Score(u32);

impl Score {
    pub const fn of_steps(steps: u32, rate: u32) -> Self {
        let hundredths = steps as u64 * 100 / rate as u64;
        // A game of more than a year.
        Self(if hundredths > u32::MAX as u64 {
            u32::MAX
        } else {
            hundredths as u32
        })
    }

    pub const fn hundredths(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:02}", self.0 / 100, self.0 % 100)
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 100.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Wall,
    /// The window was closed, or its display went away, while the game was played.
    Closed,
}

/// What is kept of a game that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// From one.
    pub game: u32,
    pub seed: u64,
    pub score: Score,
    /// Pictures that were shown of it.
    pub frames: u32,
    pub ended: Ended,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_and_file_show_the_same_hundredths() {
        for steps in 0..20_000 {
            let score = Score::of_steps(steps, 120);
            let shown = score.to_string().replace(':', ".");
            let written = serde_json::to_string(&score).unwrap();
            let same: (f64, f64) = (shown.parse().unwrap(), written.parse().unwrap());
            assert!((same.0 - same.1).abs() < f64::EPSILON, "{shown} {written}");
            assert!(written.len() <= shown.len(), "{written}");
        }
        assert_eq!(Score::of_steps(120 * 12 + 41, 120).to_string(), "12:34");
        assert_eq!(Score::of_steps(6, 120).to_string(), "0:05");
    }

    #[test]
    fn a_record_is_one_line() {
        let record = Record {
            game: 2,
            seed: 7,
            score: Score(1234),
            frames: 741,
            ended: Ended::Wall,
        };
        assert_eq!(
            serde_json::to_string(&record).unwrap(),
            r#"{"game":2,"seed":7,"score":12.34,"frames":741,"ended":"wall"}"#
        );
    }
}
