//! From frozen evidence to a verdict: what was handed in, where checks run, whom to ask about prose. For a
//! trial that was just played, and for one that is graded again.

use std::sync::Arc;

use agon_core::verdict::{TurnEnd, Verdict};
use agon_core::{Fault, Source, Task};
use agon_grade::{Bench, Desk, Evidence, FlowStep, Place, Told};
use agon_sandbox::Request;

use crate::attempt::Attempt;
use crate::hand_in;
use crate::pictures::Kept as Pictures;
use crate::table::Providers;
use crate::trial::{Frozen, looks_at_screen, request};
use crate::unchecked::{failed, screen_gone};

pub(crate) async fn grade(attempt: &mut Attempt, frozen: &Frozen) -> Result<Verdict, Fault> {
    let elsewhere = frozen.commands.is_some();
    let note = attempt.end_note.as_deref().unwrap_or_default();
    if let Some(verdict) = nothing_left(attempt.end, elsewhere, note) {
        return Ok(verdict);
    }
    let table = Arc::clone(&attempt.table);
    let task = Arc::clone(&attempt.job.task);
    let sight = frozen.seen.evidence();
    if sight.is_none() && looks_at_screen(&task) {
        return Ok(screen_gone());
    }
    let request = fresh_request(attempt);
    let (cut_off, work) = (&frozen.cut_off, frozen.work.as_ref());
    let mut told = Vec::new();
    let handed = hand_in::take(&table, &task, &request, cut_off, work, &mut told).await;
    for body in told {
        attempt.record(Source::Grader, None, body)?;
    }
    let handed = handed?;
    if let Some(verdict) = handed.verdict() {
        return Ok(verdict);
    }
    let evidence = Evidence {
        cut_off,
        work: handed.work(work),
        changes: hand_in::beside(&task, frozen.changes.as_ref()),
        result: frozen.result.as_deref(),
        actions: &frozen.actions,
        sight: sight.as_ref(),
        flow: &FlowStep::of(&attempt.so_far.events()),
        pictures: &Pictures(table.writer.folder()),
        told: elsewhere,
    };
    let inside = frozen.sandbox.as_deref();
    let place = match (&frozen.commands, inside) {
        (Some(commands), _) => Place::Recorded(commands),
        (None, Some(inside)) if in_used_container(&task) => Place::Inside(inside),
        _ => match &frozen.ahead {
            Some(provider) => Place::Fresh {
                provider,
                request: &request,
            },
            None => fresh_place(&table.providers, &request),
        },
    };
    let told = Told::default();
    let account = Arc::clone(&attempt.models.of_judge);
    let desk = Desk {
        place: &place,
        judge: table.judge.as_ref().map(|judge| Bench {
            judge,
            account: &account,
        }),
        told: &told,
    };
    let verdict = agon_grade::grade(&task, &evidence, &desk).await;
    for body in told.take() {
        attempt.record(Source::Grader, None, body)?;
    }
    Ok(handed.marked(verdict?))
}

/// What the sandboxes of checks are made of.
pub(crate) fn fresh_request(attempt: &Attempt) -> Request {
    let name = format!("{} (grading)", attempt.trial);
    let task = &attempt.job.task;
    request(&attempt.table, task, name, attempt.programs.as_deref())
}

/// The verdict over a turn whose end leaves nothing to look at: an agent that brought its environment down, a
/// runner that told nothing. That is no way out of checks, whenever they are carried out.
pub(crate) fn nothing_left(end: Option<TurnEnd>, elsewhere: bool, note: &str) -> Option<Verdict> {
    match end? {
        TurnEnd::BroughtDown => {
            let why = "the agent brought its environment down (out of memory, or by programs that can't be ended)";
            Some(failed("environment", why))
        }
        TurnEnd::Crashed | TurnEnd::Garbage | TurnEnd::Operator if elsewhere => {
            Some(failed("runner", note))
        }
        _ => None,
    }
}

/// Whether checks run where the agent was.
pub(crate) fn in_used_container(task: &Task) -> bool {
    task.environment.is_container() && !hand_in::graded_afresh(task)
}

/// Checks in sandboxes made for them alone: see law 3.
pub(crate) fn fresh_place<'a>(providers: &'a Providers, request: &'a Request) -> Place<'a> {
    match providers.of(&request.environment) {
        Some(provider) => Place::Fresh {
            provider: provider.as_ref(),
            request,
        },
        None => Place::Nowhere,
    }
}
