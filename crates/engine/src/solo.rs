//! One agent's turn in a sandbox that somebody else owns: no set-up, no cut, no grading. For programs that
//! do those themselves. The turn is the same as in a trial, and so is its record.

use std::io;
use std::sync::Arc;

use agon_core::event::Phase;
use agon_core::verdict::TurnEnd;
use agon_core::{EventBody, Fault, Source, Usage};
use agon_sandbox::Sandbox;
use tokio_util::sync::CancellationToken;

use crate::apps::Apps;
use crate::attempt::{Attempt, Job};
use crate::stage::Stage;
use crate::table::Table;
use crate::trial::open_user;
use crate::turns;
use crate::workbench::Workbench;

/// What a turn came to.
#[derive(Debug)]
pub struct Solo {
    /// How it ended, or what of ours went wrong.
    pub end: Result<TurnEnd, Fault>,
    /// Why it ended, in words, where the agent did not end it itself.
    pub note: Option<String>,
    /// What was given with `finish`.
    pub result: Option<String>,
    pub steps: u32,
    pub usage: Usage,
}

/// Where the turn is played, and who may end it.
#[derive(Debug)]
pub struct Ground<'a> {
    pub sandbox: Option<&'a dyn Sandbox>,
    pub workbench: &'a mut Workbench,
    /// Ends the turn in the middle: the agent is dismissed, and what it did is recorded.
    pub stop: CancellationToken,
    /// What whoever reads the record should know beforehand.
    pub notes: Vec<String>,
}

/// Lets the table's agent play. The error is that of writing the record.
pub async fn solo(table: &Arc<Table>, job: Job, ground: Ground<'_>) -> io::Result<Solo> {
    let mut attempt = Attempt::new(table, job);
    let turn = take(&mut attempt, ground).await;
    attempt.record_calls(None)?;
    let (end, result) = match turn {
        Ok((end, result)) => (Ok(end), result),
        Err(fault) => {
            let body = EventBody::Fault(fault.clone());
            attempt.recorder.record(Source::Harness, None, body)?;
            (Err(fault), None)
        }
    };
    let solo = Solo {
        end,
        note: attempt.end_note.take(),
        result,
        steps: attempt.steps,
        usage: attempt.models.usage(),
    };
    attempt.recorder.finish(None)?;
    Ok(solo)
}

async fn take(
    attempt: &mut Attempt,
    ground: Ground<'_>,
) -> Result<(TurnEnd, Option<String>), Fault> {
    attempt.enter(Phase::Running)?;
    for note in ground.notes {
        attempt.record(Source::Harness, None, EventBody::Note(note))?;
    }
    let task = Arc::clone(&attempt.job.task);
    let user = open_user(attempt, &task)?;
    let apps = Apps::default();
    let stage = Stage::new(ground.sandbox, None, &apps, &task, user, ground.workbench);
    attempt.halt = ground.stop.into();
    let turn = turns::take(attempt, stage).await?;
    turns::calls(attempt, None)?;
    let end = attempt.models.end(turn.end)?;
    attempt.turn_ended(end)?;
    Ok((end, turn.result))
}
