//! The record of one trial, with a way to what is kept apart from its events.

use std::fs::File;
use std::io::Read;

use agon_core::event::Kept;
use agon_core::{Event, ModelCall, Picture, Said};
use agon_store::{RunFolder, RunReader, blobs};
use serde_json::Value;

use crate::metrics::ModelNames;

/// A patch, a file or a picture that was kept is not longer.
pub(crate) const LONGEST_KEPT: u64 = 16 << 20;

/// What is kept apart from events, if it can be had.
pub trait Bodies {
    fn said(&self, said: &Said) -> Option<Value>;
    fn picture(&self, picture: &Picture) -> Option<Picture>;
    fn kept(&self, kept: &Kept) -> Option<Vec<u8>>;
}

impl Bodies for RunFolder {
    fn said(&self, said: &Said) -> Option<Value> {
        Self::said(self, said).ok()
    }

    fn picture(&self, picture: &Picture) -> Option<Picture> {
        let file = File::open(self.blob(&picture.blob)).ok()?;
        let whole = Picture::new(picture.format, bounded(file)?);
        (whole == *picture).then_some(whole)
    }

    fn kept(&self, kept: &Kept) -> Option<Vec<u8>> {
        bounded(blobs::open_compressed(self, &kept.blob).ok()?)
    }
}

impl Bodies for RunReader {
    fn said(&self, said: &Said) -> Option<Value> {
        self.folder().said(said).ok()
    }

    fn picture(&self, picture: &Picture) -> Option<Picture> {
        Bodies::picture(self.folder(), picture)
    }

    fn kept(&self, kept: &Kept) -> Option<Vec<u8>> {
        self.folder().kept(kept)
    }
}

fn bounded(content: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut content = content.take(LONGEST_KEPT + 1);
    content.read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST_KEPT).then_some(bytes)
}

/// Nothing but what stands in the events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBodies;

impl Bodies for NoBodies {
    fn said(&self, said: &Said) -> Option<Value> {
        match said {
            Said::Here(body) => Some(body.clone()),
            Said::Blob { .. } => None,
        }
    }

    fn picture(&self, picture: &Picture) -> Option<Picture> {
        picture.data().map(|_| picture.clone())
    }

    fn kept(&self, _: &Kept) -> Option<Vec<u8>> {
        None
    }
}

#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub events: &'a [Event],
    /// What the agent was asked to do. Without it, the first words to its model are taken.
    pub instruction: Option<&'a str>,
    /// The agent's class, such as `CodeActAgent`.
    pub agent: &'a str,
    pub bodies: &'a dyn Bodies,
    /// Whose names calls have in metrics; without it, those they were asked for by.
    pub models: Option<&'a ModelNames>,
}

impl<'a> Record<'a> {
    pub(crate) fn model_of(&self, call: &'a ModelCall) -> &'a str {
        self.models
            .map_or(&*call.model, |names| names.of(&call.model))
    }
}

impl std::fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Record({}, {} events)", self.agent, self.events.len())
    }
}
