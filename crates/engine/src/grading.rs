//! From frozen evidence to a verdict: what was handed in, where checks run, whom to ask about prose. For a
//! trial that was just played, and for one that is graded again.

use std::sync::Arc;
use std::time::Duration;

use agon_core::verdict::{TurnEnd, Verdict};
use agon_core::{EventBody, Fault, FaultClass, Source, Task};
use agon_grade::{Bench, Desk, Evidence, FlowStep, Place, Told};
use agon_sandbox::Request;
use tokio::time::sleep;

use crate::attempt::Attempt;
use crate::hand_in;
use crate::pictures::Kept as Pictures;
use crate::table::Providers;
use crate::trial::{Frozen, looks_at_screen, request};
use crate::unchecked::{failed, screen_gone};

pub(crate) async fn grade(attempt: &mut Attempt, frozen: &Frozen) -> Result<Verdict, Fault> {
    if attempt.end == Some(TurnEnd::BroughtDown) {
        let why = "the agent brought its environment down (out of memory)";
        return Ok(failed("environment", why));
    }
    let useless = matches!(attempt.end, Some(TurnEnd::Crashed | TurnEnd::Garbage));
    if frozen.commands.is_some() && useless {
        let why = attempt.end_note.clone().unwrap_or_default();
        return Ok(failed("runner", &why));
    }
    let table = Arc::clone(&attempt.table);
    let task = Arc::clone(&attempt.job.task);
    let sight = frozen.seen.evidence();
    if sight.is_none() && looks_at_screen(&task) {
        return Ok(screen_gone());
    }
    let name = format!("{} (grading)", attempt.trial);
    let request = request(&table, &task, name, attempt.programs.as_deref());
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
        result: frozen.result.as_deref(),
        actions: &frozen.actions,
        sight: sight.as_ref(),
        flow: &FlowStep::of(&attempt.so_far.events()),
        pictures: &Pictures(table.writer.folder()),
    };
    let inside = frozen.sandbox.as_deref();
    let place = match (&frozen.commands, inside) {
        (Some(commands), _) => Place::Recorded(commands),
        (None, Some(inside)) if in_used_container(&task) => Place::Inside(inside),
        _ => fresh_place(&table.providers, &request),
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
    let verdict = judged(&task, &evidence, &desk).await;
    for body in told.take() {
        attempt.record(Source::Grader, None, body)?;
    }
    Ok(handed.marked(verdict?))
}

/// How often a judge that failed is asked again, and the first pause before; each further one is longer.
const MORE_HEARINGS: u32 = 2;
const RECESS: Duration = Duration::from_secs(1);

/// The verdict. A judge that fails is asked again over the same evidence: nobody has to play again for it.
pub(crate) async fn judged(
    task: &Task,
    evidence: &Evidence<'_>,
    desk: &Desk<'_>,
) -> Result<Verdict, Fault> {
    let mut heard = 0;
    loop {
        match agon_grade::grade(task, evidence, desk).await {
            Err(fault) if fault.class == FaultClass::Judge && heard < MORE_HEARINGS => {
                heard += 1;
                let note = format!("the judge is asked again: {}", fault.message);
                desk.told.tell(EventBody::Note(note));
                sleep(RECESS * heard * heard).await;
            }
            verdict => return verdict,
        }
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
