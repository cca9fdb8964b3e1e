//! A tape that is being made: every answered call is added to its end. What was written survives the
//! death of this process; a line that was torn by it is cut off by the next.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use agon_core::Digest;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::file::{Call, HEADER, read, setup};
use crate::error::LlmError;
use crate::key::Scrubber;
use crate::spec::Wire;

#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    end: Mutex<End>,
}

/// The end of the file, where everything happens.
#[derive(Debug)]
struct End {
    file: File,
    length: u64,
    /// The long texts that the tape holds already.
    texts: HashSet<Digest>,
}

impl Recording {
    /// Begins a tape, or goes on with one. A file that is something else is left alone.
    pub fn create(path: &Path) -> Result<Self, LlmError> {
        let unopened =
            |error: std::io::Error| setup(path, format_args!("can't be written: {error}"));
        let file = File::options()
            .append(true)
            .create(true)
            .open(path)
            .map_err(unopened)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            setup(
                path,
                format_args!("another recording goes on there: wait, or name another file"),
            )
        })?;
        let mut end = End {
            file,
            length: 0,
            texts: HashSet::new(),
        };
        if end.file.metadata().map_err(unopened)?.len() == 0 {
            end.append(HEADER.as_bytes()).map_err(unopened)?;
        } else {
            let content = read(path, drop)?;
            end.length = content.length;
            end.texts = content.texts.into_keys().collect();
            end.file.set_len(content.length).map_err(unopened)?;
        }
        Ok(Self {
            path: path.to_owned(),
            end: Mutex::new(end),
        })
    }

    /// Adds an answered call.
    pub fn keep(
        &self,
        wire: Wire,
        model: &str,
        body: &Value,
        response: &Value,
    ) -> Result<(), LlmError> {
        let unkept = |error: std::io::Error| {
            setup(
                &self.path,
                format_args!("a call could not be written: {error}"),
            )
        };
        let (body, response) = (Scrubber::clean(body), Scrubber::clean(response));
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let (lines, texts) = Call::lines(wire, model, &body, &response, &end.texts)
            .map_err(|error| unkept(error.into()))?;
        end.append(&lines).map_err(unkept)?;
        end.texts.extend(texts);
        Ok(())
    }
}

impl End {
    /// Writes whole lines; what could be written of them only in part is cut off again.
    fn append(&mut self, lines: &[u8]) -> std::io::Result<()> {
        if let Err(error) = self.file.write_all(lines) {
            self.file.set_len(self.length).ok();
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }
}
