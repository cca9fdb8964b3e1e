//! One attempt: its page, and what the page asks for later.

use agon_core::Said;
use serde_json::Value;

use super::folder::Folder;
use super::pictures::Pictures;
use crate::error::ViewerError;
use crate::library::Run;
use crate::pages::{self, Frame};
use crate::shape::{TrialKey, TrialQuery};
use crate::trial;

/// So many steps are in one script (`source_static.js`).
const CHUNK: u32 = 50;
/// Rows that are asked for at a time.
const ROWS: u32 = 500;
/// Bodies of model calls that are longer are left out.
const MOST_OF_A_BODY: usize = 1 << 20;

pub(super) fn write(
    folder: &mut Folder,
    frame: Frame,
    run: &Run,
    key: &TrialKey,
    pictures: &mut Pictures<'_>,
) -> Result<(), ViewerError> {
    let TrialKey {
        task,
        epoch,
        attempt,
    } = key;
    let place = format!("runs/{}/trial/{task}/{epoch}/{attempt}", run.id());
    let page = pages::trial::trial(frame, run, key, None, &TrialQuery::default())?;
    folder.page(&format!("{place}/index.html"), &page)?;
    let head = trial::head(run, key)?;
    folder.data(&format!("{place}/head"), &head)?;
    let mut rows = Vec::new();
    loop {
        let part = trial::steps(run, key, rows.len() as u32, ROWS)?;
        let total = part.total as usize;
        let before = rows.len();
        rows.extend(part.rows);
        if rows.len() >= total || rows.len() == before {
            break;
        }
    }
    folder.data(&format!("{place}/rows"), &rows)?;
    let mut chunk = Vec::new();
    for n in 0..rows.len() as u32 {
        // One that can't be read is left out: the page says so when it is asked for.
        let step = trial::step(run, key, n).ok();
        if let Some(step) = &step {
            pictures.of_step(folder, step)?;
            for event in &step.events {
                whole_event(folder, &place, run, key, event)?;
            }
        }
        chunk.push(step);
        if chunk.len() as u32 == CHUNK || n + 1 == rows.len() as u32 {
            let first = n / CHUNK * CHUNK;
            folder.data(&format!("{place}/steps-{first}"), &chunk)?;
            chunk.clear();
        }
    }
    if head.realtime {
        let track = trial::track(run, key)?;
        for blob in &track.blobs {
            pictures.copy(folder, blob)?;
        }
        folder.data(&format!("{place}/track"), &track)?;
    }
    Ok(())
}

/// What a page fetches of an event when somebody opens it: the event itself where it was cut, and the bodies
/// of a model call.
fn whole_event(
    folder: &mut Folder,
    place: &str,
    run: &Run,
    key: &TrialKey,
    event: &Value,
) -> Result<(), ViewerError> {
    let Some(seq) = event["seq"].as_u64() else {
        return Ok(());
    };
    if event.get("cut").is_some()
        && let Ok(whole) = trial::event(run, key, seq)
    {
        folder.data(&format!("{place}/event-{seq}"), &whole)?;
    }
    for which in ["request", "response"] {
        let Some(said) = event["model"].get(which) else {
            continue;
        };
        let long = serde_json::from_value::<Said>(said.clone()).is_ok_and(
            |said| matches!(said, Said::Blob { bytes, .. } if bytes as usize > MOST_OF_A_BODY),
        );
        // One that is gone is left out: the page says so when it is asked for.
        if let (false, Ok(body)) = (long, trial::said(run, key, seq, which)) {
            folder.data(&format!("{place}/event-{seq}-{which}"), &body)?;
        }
    }
    Ok(())
}
