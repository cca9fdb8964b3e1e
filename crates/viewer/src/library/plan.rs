//! The manifest of a run as pages show it: of a newer format as far as it is known, and with each task once.

use std::collections::HashSet;

use agon_store::{Manifest, RunFolder, StoreError};

/// Returns also how many tasks were left out because the plan names them twice: the first one stands.
pub(crate) fn read(folder: &RunFolder) -> Result<(Manifest, u64), StoreError> {
    let mut manifest = folder.read_newer_manifest()?;
    let before = manifest.tasks.len();
    let mut seen = HashSet::new();
    manifest
        .tasks
        .retain(|stamp| seen.insert(stamp.task.clone()));
    let twice = before - manifest.tasks.len();
    Ok((manifest, twice as u64))
}
