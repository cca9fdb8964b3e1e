//! The pictures of a run, under their digests, as far as pages show them.

use std::collections::HashSet;
use std::path::Path;

use agon_core::Digest;
use serde_json::Value;

use super::folder::Folder;
use crate::error::ViewerError;
use crate::library::Run;
use crate::serve::{Blob, stored};
use crate::shape::Step;
use crate::thumbs;

/// What pictures are called in an export: pages know them by their digest alone.
pub(super) const ENDING: &str = "img";

#[derive(Debug)]
pub(super) struct Pictures<'a> {
    run: &'a Run,
    cache: &'a Path,
    done: HashSet<String>,
}

impl<'a> Pictures<'a> {
    pub(super) fn of(run: &'a Run, cache: &'a Path) -> Self {
        Self {
            run,
            cache,
            done: HashSet::new(),
        }
    }

    /// Everything that a step shows.
    pub(super) fn of_step(&mut self, folder: &mut Folder, step: &Step) -> Result<(), ViewerError> {
        for shot in [&step.before, &step.after].into_iter().flatten() {
            self.copy(folder, &shot.picture.blob.to_string())?;
        }
        if let Some(shot) = &step.row.shot {
            self.copy(folder, shot)?;
        }
        for event in &step.events {
            for blob in pictures_in(event) {
                self.copy(folder, blob)?;
            }
        }
        Ok(())
    }

    /// One that is gone, or none, is left out: its page says so.
    pub(super) fn copy(&mut self, folder: &mut Folder, blob: &str) -> Result<(), ViewerError> {
        if !self.done.insert(blob.to_owned()) {
            return Ok(());
        }
        let Some(digest) = Digest::from_hex(blob) else {
            return Ok(());
        };
        let Some(picture) = stored(self.run.folder(), &digest) else {
            return Ok(());
        };
        let id = self.run.id();
        let place = format!("runs/{id}/blobs/{digest}.{ENDING}");
        match picture {
            Blob::Whole(bytes) => folder.write(&place, &bytes)?,
            Blob::Large(file, _, _) => folder.copy(&place, file)?,
        }
        match thumbs::thumb(self.cache, self.run.folder(), &digest) {
            Ok(thumb) => folder.write(&format!("runs/{id}/thumbs/{digest}.{ENDING}"), &thumb.bytes),
            Err(_) => Ok(()),
        }
    }
}

/// Digests of pictures that an event names, wherever it does.
fn pictures_in(value: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => {
                if let (Some(Value::String(blob)), true) =
                    (fields.get("blob"), fields.contains_key("format"))
                {
                    found.push(blob.as_str());
                }
                left.extend(fields.values());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pictures_are_found_wherever_an_event_has_them() {
        let event = json!({"look": {"picture": {"format": "png", "blob": "aa", "bytes": 1}},
            "observation": {"pictures": [{"format": "png", "blob": "bb"}]}, "kept": {"blob": "cc"}});
        let mut found = pictures_in(&event);
        found.sort_unstable();
        assert_eq!(found, ["aa", "bb"]);
    }
}
