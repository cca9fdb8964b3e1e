//! A task in the words of the original: six fields and checks of four types.

use agon_core::{Level, Task};

use super::checks::{rows, rows_to_run};
use super::schema::TestCase;

/// What stands for a set-up that does nothing, in the original's files as in ours.
pub const NO_SETUP: &str = "None";

/// The original knows no case without a level; this one weighs 1.
const UNLEVELLED: Level = Level::Wood;

impl TestCase {
    /// Holds what its checks ask for: for result files.
    pub fn of(task: &Task) -> Self {
        Self {
            id: task.id.id().to_owned(),
            name: task.name.clone(),
            category: task.id.category().to_owned(),
            level: level_name(task.level),
            task: task.instruction.show().clone(),
            setup_cmd: task.setup.clone().unwrap_or_else(|| NO_SETUP.to_owned()),
            desktop_image: task.environment.image.clone().unwrap_or_default(),
            checks: task.checks.inspect(|checks| rows(checks)),
        }
    }

    /// The same for runners, who carry out the checks themselves.
    pub fn to_run(task: &Task) -> Self {
        Self {
            checks: task.checks.inspect(|checks| rows_to_run(checks)),
            ..Self::of(task)
        }
    }
}

pub(crate) fn level_name(level: Option<Level>) -> String {
    level.unwrap_or(UNLEVELLED).name().to_owned()
}
