//! The keys of `hand_in`: what of the working folder is graded.

use schemars::JsonSchema;
use serde::Deserialize;

/// What is graded instead of the working folder as the agent left it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct HandInFile {
    /// A repository's folder in the working folder, `.` for the working folder itself: only what was
    /// changed in it is graded, as a patch over the task's own files.
    pub(crate) patch: String,
    /// Globs of paths in the repository whose changes are left out and told, such as `tests/**`.
    #[serde(default)]
    pub(crate) protected: Vec<String>,
}
