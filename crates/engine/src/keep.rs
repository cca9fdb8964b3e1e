//! What an agent left, kept in the record: its working folder, and what it changed beside that in a container.
//! Does not know how it was taken, or who grades it.

use std::fs::File;
use std::io;

use agon_core::event::Kept;
use agon_core::{EventBody, Fault, FaultClass, Source};
use agon_llm::Scrubber;
use agon_sandbox::{Changes, WorkArchive};
use agon_store::blobs::Stored;
use tokio::task::spawn_blocking;

use crate::attempt::{Attempt, evidence_lost};

/// What the record calls what was changed beside the working folder.
pub(crate) const CHANGES: &str = "changes";

/// Stores the frozen working folder, so that the trial can be graded again.
pub(crate) async fn keep_work(attempt: &mut Attempt, archive: &WorkArchive) -> Result<(), Fault> {
    let cap = attempt.table.keep_work;
    let file = archive.open().map_err(|error| evidence_lost(&error))?;
    let stored = keep_file(attempt, file, cap).await?;
    let body = match stored {
        Stored::As { digest, bytes } => {
            attempt.work = Some(digest);
            EventBody::Kept(Kept {
                what: "work".to_owned(),
                blob: digest,
                bytes,
            })
        }
        Stored::TooLarge => EventBody::Note(format!(
            "the working folder was graded but not kept: {} bytes are over the cap of {cap}",
            archive.bytes()
        )),
    };
    attempt.record(Source::Harness, None, body).map(|_| ())
}

/// Stores what was changed beside the working folder, or at least that there was something.
pub(crate) async fn keep_changes(attempt: &mut Attempt, changes: &Changes) -> Result<(), Fault> {
    let lost = |error: io::Error| evidence_lost(&error);
    let cap = attempt.table.keep_work;
    let mut kept = keep_file(attempt, changes.file().map_err(lost)?, cap).await?;
    if matches!(kept, Stored::TooLarge) {
        let note = format!(
            "what was changed in the container was graded but not kept: {} bytes are over the cap of {cap}",
            changes.bytes()
        );
        attempt.record(Source::Harness, None, EventBody::Note(note))?;
        let without = changes.without_files().map_err(lost)?;
        kept = keep_file(attempt, without.file().map_err(lost)?, u64::MAX).await?;
    }
    if let Stored::As { digest, bytes } = kept {
        let body = EventBody::Kept(Kept {
            what: CHANGES.to_owned(),
            blob: digest,
            bytes,
        });
        attempt.record(Source::Harness, None, body)?;
    }
    let names: Vec<String> = changes
        .kept_back()
        .map(|name| name.escape_debug().to_string())
        .collect();
    if !names.is_empty() {
        let note = format!(
            "checks have these as the image has them: {}",
            names.join(", ")
        );
        attempt.record(Source::Harness, None, EventBody::Note(note))?;
    }
    Ok(())
}

async fn keep_file(attempt: &Attempt, file: File, cap: u64) -> Result<Stored, Fault> {
    let writer = attempt.table.writer.clone();
    spawn_blocking(move || {
        // An agent may have put a key of ours into a file.
        let mut file = Scrubber::blotted(io::BufReader::new(file));
        writer.keep(&mut file, cap)
    })
    .await
    .map_err(|error| Fault::new(FaultClass::Internal, error))?
    .map_err(|error| evidence_lost(&error))
}
