//! How many steps a task gets: `--max-steps`, then the task's own limit, then its level's.

use std::fmt;
use std::str::FromStr;

use agon_core::{Level, Limits};

/// A list of step budgets from paper to gold; the last one holds for all further levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxSteps(Vec<u32>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no list of steps: expected whole numbers from paper to gold, such as 5,25,50")]
pub struct BadSteps(String);

impl FromStr for MaxSteps {
    type Err = BadSteps;

    fn from_str(text: &str) -> Result<Self, BadSteps> {
        let steps: Option<Vec<u32>> = text
            .split(',')
            .map(|part| part.trim().parse().ok().filter(|steps| *steps > 0))
            .collect();
        steps
            .map(|mut steps| {
                // As OSUniverse does: there is no level that further ones could be meant for.
                steps.truncate(Level::ALL.len());
                Self(steps)
            })
            .ok_or_else(|| BadSteps(text.to_owned()))
    }
}

/// The same for every level.
impl From<u32> for MaxSteps {
    fn from(steps: u32) -> Self {
        Self(vec![steps])
    }
}

/// As it is given on the command line.
impl fmt::Display for MaxSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&steps.join(","))
    }
}

impl MaxSteps {
    /// A task without a level counts as one beyond gold.
    pub fn of(&self, level: Option<Level>) -> Option<u32> {
        let place = level.map_or(usize::MAX, |level| level as usize);
        self.0.get(place).or(self.0.last()).copied()
    }
}

pub(super) fn steps(forced: Option<&MaxSteps>, own: Option<u32>, level: Option<Level>) -> u32 {
    forced
        .and_then(|list| list.of(level))
        .or(own)
        .or_else(|| level.map(Level::default_steps))
        .unwrap_or_else(|| Limits::default().steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_is_repeated() {
        let list: MaxSteps = "5, 25,50".parse().unwrap();
        let of = |level| list.of(Some(level)).unwrap();
        assert_eq!(Level::ALL.map(of), [5, 25, 50, 50, 50]);
        assert_eq!(list.of(None), Some(50));
    }

    #[test]
    fn numbers_beyond_gold_count_for_nothing() {
        let list: MaxSteps = "1,2,3,4,5,6,7".parse().unwrap();
        assert_eq!(list, "1,2,3,4,5".parse().unwrap());
        assert_eq!(list.of(None), Some(5));
    }

    #[test]
    fn what_is_no_list() {
        for bad in ["", "5,", "0", "a", "1,2,3,4,5,x", "-1"] {
            assert!(bad.parse::<MaxSteps>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_option_beats_the_file_and_the_file_the_level() {
        let list: MaxSteps = "7".parse().unwrap();
        assert_eq!(steps(Some(&list), Some(3), Some(Level::Gold)), 7);
        assert_eq!(steps(None, Some(3), Some(Level::Gold)), 3);
        assert_eq!(
            Level::ALL.map(|level| steps(None, None, Some(level))),
            [5, 25, 50, 75, 100]
        );
        assert_eq!(steps(None, None, None), 30);
    }
}
