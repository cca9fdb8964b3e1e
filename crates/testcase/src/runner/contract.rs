//! The contract of a runner: a test case in, one result out. It has a desktop of its own, sets it up, lets
//! its agent work, runs the commands of all checks, and tells.

use std::fmt;

use agon_core::Level;
use async_trait::async_trait;
use serde::Serialize;

use crate::results::{TestCase, TestCaseRun};

/// What the whole run was asked for, in the words of the original.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunnerConfig {
    /// Given on as it was given.
    pub agent_yaml: String,
    pub agent_model: String,
    pub agent_model_base_url: Option<String>,
    pub testcases_dir: String,
    pub results_dir: String,
    /// Empty: all.
    pub categories: Vec<String>,
    pub levels: Vec<String>,
    pub max_steps: MaxSteps,
    pub dry_run: bool,
    /// `run-all` or `rerun-failed`: nothing is played in the third mode.
    pub mode: String,
    /// How many cases are played at a time.
    pub runners: usize,
}

/// Steps by level. For the level of the case at hand it is what that case allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MaxSteps {
    pub paper: u32,
    pub wood: u32,
    pub bronze: u32,
    pub silver: u32,
    pub gold: u32,
}

impl Default for MaxSteps {
    fn default() -> Self {
        Self::of(Level::default_steps)
    }
}

impl MaxSteps {
    pub fn of(steps: impl Fn(Level) -> u32) -> Self {
        Self {
            paper: steps(Level::Paper),
            wood: steps(Level::Wood),
            bronze: steps(Level::Bronze),
            silver: steps(Level::Silver),
            gold: steps(Level::Gold),
        }
    }

    pub(crate) fn set(&mut self, level: &str, steps: u32) {
        let own = match level {
            "paper" => &mut self.paper,
            "bronze" => &mut self.bronze,
            "silver" => &mut self.silver,
            "gold" => &mut self.gold,
            _ => &mut self.wood,
        };
        *own = steps;
    }
}

#[async_trait]
pub trait Runner: fmt::Debug + Send + Sync {
    /// Ends in time, or is dropped, with whatever it has started.
    async fn run(
        &self,
        testcase: &TestCase,
        config: &RunnerConfig,
    ) -> Result<TestCaseRun, RunnerError>;
}

/// Why a runner has no result. The first is a fault, which is tried again; the others are its own doing
/// and end the case as failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunnerError {
    #[error("the runner can't be reached: {0}")]
    Unreachable(String),
    #[error("the runner crashed: {0}")]
    Crashed(String),
    #[error("the runner's answer is no result of a test case: {0}")]
    Garbage(String),
}
