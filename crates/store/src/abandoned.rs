//! What an attempt had spent that was never finished: its process was stopped or killed. As far as its
//! events were written; what was not, nobody knows.

use agon_core::{Event, EventBody, Purpose, TaskId, Usage};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::lines;

/// Nothing where there is no such attempt, or its events were still in memory.
pub fn abandoned(
    folder: &RunFolder,
    task: &TaskId,
    epoch: u32,
    attempt: u32,
) -> Result<Usage, StoreError> {
    let events = RunFolder::trial_folder(task, epoch, attempt).join("events.jsonl");
    let path = folder.path().join(events);
    let (mut asked, mut reported, mut by_agent) = (Usage::default(), Usage::default(), false);
    let read = lines::for_each(&path, |_, line| {
        // What can't be read cost nothing that can be told.
        match serde_json::from_slice::<Event>(line).map(|event| event.body) {
            Ok(EventBody::Model(call)) => {
                asked += &call.usage;
                by_agent |= matches!(call.purpose, Purpose::Agent | Purpose::Gateway);
            }
            Ok(EventBody::Usage(usage)) => reported += &usage,
            _ => {}
        }
    });
    read.map_err(StoreError::io("can't read", &path))?;
    // What an agent reports counts only where nobody saw it ask.
    if !by_agent {
        asked += &reported;
    }
    Ok(asked)
}
