//! The keys of `benchmark.toml`. Those whose values may be templates are only named here: they are read
//! anew for every row of the dataset, as the keys of a task.

use agon_core::{ActionKind, Level};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::check::CheckFile;
use super::environment::EnvironmentFile;
use super::limits::{LimitsFile, at_least_one};
use super::user::UserFile;

/// A benchmark: a dataset whose rows become tasks by way of templates.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[schemars(title = "Agon benchmark")]
#[expect(
    dead_code,
    reason = "what may hold templates is read anew for each row, from its own place"
)]
pub(crate) struct BenchmarkFile {
    /// Without it: the name of the folder.
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) description: String,
    /// A .jsonl, .json or .csv file. Without it: the only one that is there.
    pub(crate) dataset: Option<String>,
    /// The field that holds the id. Default: instance_id.
    pub(crate) id: Option<String>,
    /// A field, or a fixed word. Without it: the name of the folder.
    pub(crate) category: Option<String>,
    /// The file of the instruction; a template if its name ends in .j2.
    pub(crate) instruction: Option<String>,
    /// Fields, as globs, that nothing on the agent's side may use. Default: answer, expected, solution,
    /// patch, test_patch, gold*.
    pub(crate) hidden: Option<Vec<String>>,
    /// The same as `limits.steps`.
    #[serde(default, deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub(crate) max_iterations: Option<u32>,
    /// Deadlines and budgets.
    #[serde(default)]
    #[schemars(with = "LimitsFile")]
    pub(crate) limits: Option<IgnoredAny>,
    /// Where the tasks are played.
    #[serde(default)]
    #[schemars(with = "EnvironmentFile")]
    pub(crate) environment: Option<IgnoredAny>,
    /// Where the files of the tasks lie.
    #[serde(default)]
    pub(crate) files: FilesFile,
    /// A shell script that runs before the agent starts. Default: initialize.sh, if there is one.
    pub(crate) initialize: Option<String>,
    /// A shell script that runs over what the agent left. Default: complete.sh, if there is one.
    pub(crate) complete: Option<String>,
    /// What is taken of the working folder.
    #[serde(default)]
    pub(crate) collect: CollectFile,
    /// What decides whether a task was done.
    #[serde(default)]
    pub(crate) evaluate: EvaluateFile,
    /// Who answers the agent's messages; may also stand in a file user.toml.
    #[serde(default)]
    #[schemars(with = "UserFile")]
    pub(crate) user: Option<IgnoredAny>,
    /// A shell script, or a list of actions, that solves the task. Default: solution.sh, if there is one.
    #[serde(default)]
    #[schemars(schema_with = "solution_schema")]
    pub(crate) solution: Option<IgnoredAny>,
    /// Difficulty.
    #[serde(default)]
    #[schemars(with = "Option<Level>")]
    pub(crate) level: Option<IgnoredAny>,
    /// For filters.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) tags: Option<IgnoredAny>,
    /// The kinds of action that the agent may use.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ActionKind>>")]
    pub(crate) actions: Option<IgnoredAny>,
    /// Partial credit.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(crate) partial: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct FilesFile {
    /// A folder whose files every agent gets. Default: visible.
    pub(crate) visible: Option<String>,
    /// A folder whose visible/, verify/ and solution/solve.sh lie over those of the benchmark. Default:
    /// instances/{{ id }}.
    pub(crate) per_instance: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[expect(dead_code, reason = "its values may be templates: see above")]
pub(crate) struct CollectFile {
    /// Files of the working folder that are kept one by one.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) files: Option<IgnoredAny>,
    /// A repository of the working folder: only what was changed in it is graded.
    #[schemars(with = "Option<String>")]
    pub(crate) patch: Option<IgnoredAny>,
    /// Globs of paths in the repository whose changes are left out and told.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) protected: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
#[expect(dead_code, reason = "its values may be templates: see above")]
pub(crate) struct EvaluateFile {
    /// A program below verify/. Default: verify/evaluate.sh or verify/evaluate.py, if there is no check.
    pub(crate) script: Option<String>,
    /// Its arguments.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) args: Option<IgnoredAny>,
    /// Checks as a task has them.
    #[schemars(with = "Option<Vec<CheckFile>>")]
    pub(crate) checks: Option<IgnoredAny>,
}

fn solution_schema(generator: &mut SchemaGenerator) -> Schema {
    let actions = generator.subschema_for::<Vec<agon_core::Action>>();
    json_schema!({ "anyOf": [{ "type": "string" }, actions] })
}
