//! The keys of a task file.

use agon_core::{Action, ActionKind, Level};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::check::CheckFile;
use super::environment::{EnvironmentFile, ImageName};
use super::hand_in::HandInFile;
use super::limits::LimitsFile;
use super::realtime::RealtimeFile;
use super::user::UserFile;

/// A task: what an agent is asked to do, where, and how the result is checked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a task: keys and values")]
#[schemars(title = "Agon task")]
pub(crate) struct TaskFile {
    /// Shown in lists and reports; the agent never sees it. Without it: the id.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) name: Option<String>,
    /// Difficulty: decides weight and default steps.
    pub(crate) level: Option<Level>,
    /// The instruction, given to the agent word for word.
    pub(crate) task: String,
    /// A shell command that runs before the agent starts. `None` or nothing: none.
    pub(crate) setup_cmd: Option<String>,
    /// Short for `environment: {kind: desktop, image: ...}`.
    pub(crate) desktop_image: Option<ImageName>,
    /// Where the task is played.
    #[serde(default)]
    pub(crate) environment: EnvironmentFile,
    /// Deadlines and budgets.
    #[serde(default)]
    pub(crate) limits: LimitsFile,
    /// For filters.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Share in the weighted score. Without it: by level.
    #[schemars(range(min = 0.0))]
    pub(crate) weight: Option<f64>,
    /// The kinds of action that the agent may use. Without it: by the kind of environment.
    pub(crate) actions: Option<Vec<ActionKind>>,
    /// The world moves on by itself: desktop only.
    pub(crate) realtime: Option<RealtimeFile>,
    /// Who answers the agent's messages. Without it: nobody.
    #[serde(default)]
    pub(crate) user: UserFile,
    /// What is graded, where that is not the working folder as the agent left it.
    pub(crate) hand_in: Option<HandInFile>,
    /// A shell script that runs over what the agent left, in a fresh sandbox, before it is graded.
    pub(crate) complete_cmd: Option<String>,
    /// Files of the working folder that are kept one by one.
    #[serde(default)]
    pub(crate) collect: Vec<String>,
    /// Partial credit: the score is the weighted share of the checks that pass.
    #[serde(default)]
    pub(crate) partial: bool,
    /// What decides whether the task was done; all must pass.
    #[serde(default)]
    #[schemars(with = "Vec<CheckFile>")]
    #[expect(
        dead_code,
        reason = "checks are read one by one, each from its own place"
    )]
    pub(crate) checks: Vec<IgnoredAny>,
    /// Actions that solve the task, or the player that does, played by the `oracle` agent.
    #[serde(default)]
    #[schemars(schema_with = "solution_schema")]
    #[expect(
        dead_code,
        reason = "actions are read one by one, each from its own place"
    )]
    pub(crate) solution: Option<IgnoredAny>,
}

/// Who solves a real-time task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct PlayerFile {
    /// The name of a built-in real-time player.
    pub(crate) player: String,
}

fn solution_schema(generator: &mut SchemaGenerator) -> Schema {
    let actions = generator.subschema_for::<Vec<Action>>();
    let player = generator.subschema_for::<PlayerFile>();
    json_schema!({ "anyOf": [actions, player] })
}
