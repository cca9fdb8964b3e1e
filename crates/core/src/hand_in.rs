//! What of a trial's working folder is handed in to be graded.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandIn {
    /// The working folder as the agent left it.
    #[default]
    Work,
    /// What the agent changed in a repository, as a patch: checks see the task's own files, set up afresh,
    /// with the patch applied. Nothing else that the agent left gets there.
    Patch(PatchRules),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchRules {
    /// The repository's folder in the working folder; `.` is the working folder itself.
    pub repository: String,
    /// Paths in it, as globs, whose changes are left out and told: tests that the agent was given.
    pub protected: Vec<String>,
}
