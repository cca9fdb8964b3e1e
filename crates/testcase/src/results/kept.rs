//! What an imported file says, kept beside the record that was made of it and given back as it was when the
//! run is exported. Screens are blobs of the run and stand here by their digests.

use std::io::{self, Read};

use agon_core::event::Kept;
use agon_core::{Event, EventBody, Picture};
use agon_store::blobs::{Stored, open_compressed};
use agon_store::{RunFolder, RunWriter};
use serde::{Deserialize, Serialize};

use super::picture;
use super::schema::{Step, TestCaseRun};

/// How it is called in the record.
const CASE: &str = "case";
/// Without screens.
const MOST: u64 = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    /// With no screenshot where there is a picture.
    run: TestCaseRun,
    /// By step.
    screens: Vec<Option<Picture>>,
    result: Option<Picture>,
}

impl KeptRun {
    pub(crate) fn of(mut run: TestCaseRun) -> Self {
        let screens = run.trajectory.iter_mut().map(take).collect();
        let result = run.result.as_mut().and_then(take);
        Self {
            run,
            screens,
            result,
        }
    }

    /// Their bytes are still there.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.screens.iter().chain([&self.result]).flatten()
    }

    /// As a blob of the run; the event that leads to it is returned.
    pub(crate) fn keep(&self, writer: &RunWriter) -> io::Result<EventBody> {
        let text = serde_json::to_vec(self)?;
        Ok(match writer.keep(&mut text.as_slice(), MOST)? {
            Stored::As { digest, bytes } => EventBody::Kept(Kept {
                what: CASE.to_owned(),
                blob: digest,
                bytes,
            }),
            Stored::TooLarge => EventBody::Note(format!(
                "the imported file is not kept beside its record: it is over {MOST} bytes"
            )),
        })
    }

    /// That of a record; `None` if it was not imported.
    pub(crate) fn find(events: &[Event], folder: &RunFolder) -> io::Result<Option<Self>> {
        let kept = events.iter().find_map(|event| match &event.body {
            EventBody::Kept(kept) if kept.what == CASE => Some(kept),
            _ => None,
        });
        let Some(kept) = kept else {
            return Ok(None);
        };
        let mut text = Vec::new();
        let content = open_compressed(folder, &kept.blob)?;
        content.take(MOST).read_to_end(&mut text)?;
        Ok(Some(serde_json::from_slice(&text)?))
    }

    /// The file, with its screens read by `load`.
    pub(crate) fn restored<E>(
        self,
        mut load: impl FnMut(&Picture) -> Result<Picture, E>,
    ) -> Result<TestCaseRun, E> {
        let mut run = self.run;
        let mut put = |step: &mut Step, picture: Option<&Picture>| {
            if let Some(picture) = picture {
                step.screenshot = picture::to_uri(&load(picture)?);
            }
            Ok(())
        };
        for (step, picture) in run.trajectory.iter_mut().zip(&self.screens) {
            put(step, picture.as_ref())?;
        }
        if let Some(step) = &mut run.result {
            put(step, self.result.as_ref())?;
        }
        Ok(run)
    }
}

/// Only what comes back as it is can be left out.
fn take(step: &mut Step) -> Option<Picture> {
    let text = step.screenshot.as_deref()?;
    let (picture, _) = picture::of_uri(text)?;
    if picture::to_uri(&picture).as_deref() != Some(text) {
        return None;
    }
    step.screenshot = None;
    Some(picture)
}
