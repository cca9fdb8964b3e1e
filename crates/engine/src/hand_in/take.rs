//! The way from the frozen working folder to what checks look at, the same when a trial is graded again.

use std::io;

use agon_core::event::Kept;
use agon_core::verdict::{CheckResult, Verdict};
use agon_core::{CutOff, EventBody, Fault, HandIn, Task};
use agon_llm::Scrubber;
use agon_sandbox::{Changes, Request, WorkArchive};
use agon_store::blobs::Stored;
use tokio::task::spawn_blocking;

use super::collect::{self, collect};
use super::complete::complete;
use super::fresh::{Rooms, Stop};
use super::patch;
use crate::attempt::evidence_lost;
use crate::table::Table;
use crate::unchecked::{failed, remark};

const PATCH: &str = "patch";

/// What checks look at.
#[derive(Debug, Default)]
pub(crate) struct HandedIn {
    /// In place of the working folder that was frozen.
    work: Option<WorkArchive>,
    /// Nothing came of it, and that is the agent's doing: a verdict without any check.
    spoiled: Option<Verdict>,
    /// What stands beside the checks of the task in the verdict.
    mark: Option<CheckResult>,
}

impl HandedIn {
    pub(crate) fn work<'a>(&'a self, frozen: Option<&'a WorkArchive>) -> Option<&'a WorkArchive> {
        self.work.as_ref().or(frozen)
    }

    /// The verdict, where none of the checks can change it.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.spoiled.clone().map(|verdict| self.marked(verdict))
    }

    /// The verdict of the checks with what is to be said of the hand-in itself.
    pub(crate) fn marked(&self, mut verdict: Verdict) -> Verdict {
        verdict.checks.extend(self.mark.clone());
        verdict
    }
}

/// Whether checks must run in fresh sandboxes: what they look at is nowhere else.
pub(crate) fn graded_afresh(task: &Task) -> bool {
    task.environment.grading.is_fresh() || runs_programs(task)
}

/// Whether what is graded is made from what the agent left, rather than being it.
pub(crate) fn runs_programs(task: &Task) -> bool {
    matches!(task.hand_in, HandIn::Patch(_)) || task.complete.inspect(Option::is_some)
}

/// What the agent changed beside the working folder, where checks see that: what is made from a patch, or
/// by a script of the task, is made of the working folder alone.
pub(crate) fn beside<'a>(task: &Task, changes: Option<&'a Changes>) -> Option<&'a Changes> {
    changes.filter(|_| !runs_programs(task))
}

/// Makes what checks look at from the frozen working folder. What is to be recorded of that is added to
/// `told`, whichever way it ends.
pub(crate) async fn take(
    table: &Table,
    task: &Task,
    request: &Request,
    cut_off: &CutOff,
    frozen: Option<&WorkArchive>,
    told: &mut Vec<EventBody>,
) -> Result<HandedIn, Fault> {
    let Some(frozen) = frozen else {
        return Ok(HandedIn::default());
    };
    let (true, Some(provider)) = (
        runs_programs(task),
        table.providers.of(&request.environment),
    ) else {
        keep_files(table, task, frozen, told).await?;
        return Ok(HandedIn::default());
    };
    let rooms = Rooms {
        provider: provider.as_ref(),
        request,
        removals: &table.removals,
        task,
    };
    let mut handed = HandedIn::default();
    if let Some(text) = task.complete.open(cut_off) {
        handed.work = match frozen.left_out() {
            0 => completed(table, &rooms, text, frozen, told).await?,
            // What it made would look whole, and is not: checks are to see what is missing.
            _ => {
                let note = "complete was not run: what the agent left was more than could be taken";
                told.push(EventBody::Note(note.to_owned()));
                None
            }
        };
    }
    let work = handed.work.as_ref().unwrap_or(frozen);
    keep_files(table, task, work, told).await?;
    let HandIn::Patch(rules) = &task.hand_in else {
        return Ok(handed);
    };
    if work.left_out() > 0 {
        handed.spoiled = Some(failed(
            PATCH,
            "what the agent left was more than could be taken",
        ));
        handed.mark = Some(mark(
            "left out of the archive",
            "it can't be told what is missing",
        ));
        return Ok(handed);
    }
    let taken = match patch::take(&rooms, rules, work).await {
        Ok(taken) => taken,
        Err(stop) => {
            handed.spoiled = Some(no_patch("no patch could be taken", stop)?);
            return Ok(handed);
        }
    };
    keep(table, PATCH, taken.text.clone(), patch::MOST, told).await?;
    handed.mark = taken.protected.map(|names| {
        let why = format!("changes of protected files were left out: {names}");
        mark("protected files were changed", &why)
    });
    match patch::apply(&rooms, rules, &taken.text).await {
        Ok(work) => handed.work = Some(work),
        Err(stop) => {
            handed.spoiled = Some(no_patch("the patch can't be applied", stop)?);
        }
    }
    Ok(handed)
}

/// Runs the task's script over the working folder. What the agent left can bring it down: then that is
/// graded as it stands.
async fn completed(
    table: &Table,
    rooms: &Rooms<'_>,
    text: &str,
    work: &WorkArchive,
    told: &mut Vec<EventBody>,
) -> Result<Option<WorkArchive>, Fault> {
    match complete(rooms, text, work).await {
        Ok(done) => {
            keep(table, "complete", done.output, u64::MAX, told).await?;
            if let Some(why) = done.complaint {
                told.push(EventBody::Note(format!("complete: {why}")));
            }
            Ok(Some(done.work))
        }
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Spoiled(why)) => {
            told.push(EventBody::Note(format!(
                "complete did not run to its end: {why}"
            )));
            Ok(None)
        }
    }
}

async fn keep_files(
    table: &Table,
    task: &Task,
    work: &WorkArchive,
    told: &mut Vec<EventBody>,
) -> Result<(), Fault> {
    if task.collect.is_empty() {
        return Ok(());
    }
    for (path, found) in collect(&task.collect, work).await? {
        match found {
            Ok(content) => {
                keep(table, &format!("file:{path}"), content, collect::MOST, told).await?;
            }
            Err(why) => told.push(EventBody::Note(format!("{path} was not kept: {why}"))),
        }
    }
    Ok(())
}

async fn keep(
    table: &Table,
    what: &str,
    content: Vec<u8>,
    cap: u64,
    told: &mut Vec<EventBody>,
) -> Result<(), Fault> {
    let writer = table.writer.clone();
    // An agent may have come upon a key of ours. Checks see what it left, the record does not.
    let clean = move || writer.keep(&mut Scrubber::scrub_bytes(content).as_slice(), cap);
    let stored = spawn_blocking(clean)
        .await
        .map_err(io::Error::other)
        .and_then(|stored| stored)
        .map_err(|error| evidence_lost(&error))?;
    told.push(match stored {
        Stored::As { digest, bytes } => EventBody::Kept(Kept {
            what: what.to_owned(),
            blob: digest,
            bytes,
        }),
        Stored::TooLarge => EventBody::Note(format!("{what} was not kept: it is over {cap} bytes")),
    });
    Ok(())
}

fn no_patch(what: &str, stop: Stop) -> Result<Verdict, Fault> {
    match stop {
        Stop::Fault(fault) => Err(fault),
        Stop::Spoiled(why) => Ok(failed(PATCH, &format!("{what}: {why}"))),
    }
}

fn mark(sign: &str, why: &str) -> CheckResult {
    CheckResult {
        integrity: Some(sign.to_owned()),
        ..remark(PATCH, why)
    }
}
