//! What is told of a change of a file: the difference, and how it looks around there now.

use agon_core::Observation;
use agon_core::observation::{FileChange, ObservationKind};
use agon_sandbox::SandboxError;

use super::apart::apart;
use super::before::Before;
use super::diff::{self, Sides};
use super::view;

/// A change that was made.
pub(super) struct Change {
    pub(super) path: String,
    pub(super) before: Before,
    /// Nothing where the file is gone.
    pub(super) after: Option<String>,
    /// How much is shown of it.
    pub(super) view: usize,
}

/// The same in words, with what was before.
pub(super) struct Told {
    pub(super) before: Before,
    pub(super) snippet: String,
    pub(super) seen: Observation,
}

impl Change {
    pub(super) async fn told(self) -> Result<Told, SandboxError> {
        let after = self.after.as_ref().map_or(0, String::len);
        let before = self.before.text().map_or(0, str::len);
        apart(before + after, || self.worked_out()).await
    }

    fn worked_out(self) -> Told {
        let name = self.path.as_str();
        let existed = self.before.existed();
        let sides = Sides {
            old: existed.then_some(name),
            new: self.after.as_ref().map(|_| name),
        };
        let after = self.after.as_deref().unwrap_or("");
        let (diff, snippet) = match self.before.text() {
            Some(old) => (
                diff::unified(&sides, old, after, self.view),
                view::snippet(old, after, self.view),
            ),
            None => {
                let differs = "Files differ; what was there before is no text, or too long.\n";
                (differs.to_owned(), String::new())
            }
        };
        let mut seen = Observation::new(ObservationKind::Done, "");
        seen.changed = Some(Box::new(FileChange {
            path: self.path,
            existed,
            diff,
        }));
        Told {
            before: self.before,
            snippet,
            seen,
        }
    }
}
