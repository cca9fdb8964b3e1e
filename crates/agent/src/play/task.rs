//! What a player is told: the task as it goes over the wire of the arena. Reading it from the wire,
//! with all that is forgiven there, is the arena's business.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Unique in a run.
    pub task_id: String,
    pub env_name: String,
    /// Part of the title of the window that is played.
    pub window_name: String,
    pub task_description: String,
    /// Seconds of play.
    pub timeout: u64,
    /// Between two timed checks of the environment.
    #[serde(default = "Task::default_interval")]
    pub check_env_interval_seconds: f64,
    /// Means something to agent and evaluator only.
    pub success_criteria: Map<String, Value>,
    /// Frames of history that the agent wants; 64 at most are kept.
    #[serde(default = "Task::default_frames")]
    pub num_frames: u32,
}

impl Task {
    pub const fn default_interval() -> f64 {
        1.0
    }

    pub const fn default_frames() -> u32 {
        3
    }
}
