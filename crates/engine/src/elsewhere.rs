//! A trial that somebody plays in an environment of his own: what he tells becomes the record.

use std::sync::Arc;

use agon_agent::elsewhere::{Commission, Told};
use agon_core::check::{Check, CheckKind};
use agon_core::verdict::TurnEnd;
use agon_core::{Action, Event, EventBody, Fault, FaultClass, Picture, SightTest, Source, Task};
use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::attempt::{Attempt, Spender, evidence_lost};
use crate::ends;
use crate::seen::Seen;
use crate::trial::late;
use crate::turns::Turn;

pub(crate) async fn take(attempt: &mut Attempt) -> Result<Turn, Fault> {
    let table = Arc::clone(&attempt.table);
    let Some(runner) = table.agents.elsewhere() else {
        return Err(Fault::new(FaultClass::Internal, "nobody plays elsewhere"));
    };
    let task = Arc::clone(&attempt.job.task);
    can_be_told(&task)?;
    let trial = attempt.trial.clone();
    let limit = task.limits.seconds.duration();
    let note = "the runner plays this case in an environment of its own, and tells of it";
    let begun = attempt.record(Source::Harness, None, EventBody::Note(note.to_owned()))?;
    let before = attempt.recorder.elapsed().as_secs_f64();
    let commission = Commission {
        task: &task,
        trial: &trial,
    };
    let halt = attempt.halt.clone();
    let played = async {
        tokio::select! {
            biased;
            () = halt.asked() => None,
            played = timeout(limit, runner.play(&commission)) => Some(played),
        }
    };
    let Some(played) = attempt.timed(Spender::Agent, played).await else {
        return Ok(stopped(attempt));
    };
    let delivered = played.map_err(|_| late("the runner", limit))??;
    let actions = actions(&delivered.events);
    tell(attempt, delivered.events, begun + 1, before)?;
    attempt.steps = delivered.steps;
    attempt.end_note = delivered.why;
    attempt.models.report(&delivered.usage);
    Ok(Turn {
        end: delivered.end,
        actions,
        result: delivered.result,
        seen: Seen {
            last: delivered.last,
            ..Seen::default()
        },
        commands: Some(delivered.commands),
    })
}

/// Whoever is stopped tells nothing any more.
fn stopped(attempt: &mut Attempt) -> Turn {
    attempt.end_note = ends::note(attempt, TurnEnd::Operator);
    Turn {
        end: TurnEnd::Operator,
        commands: Some(Vec::new()),
        ..Turn::default()
    }
}

/// Whether what somebody tells can be all that the checks of a task look at: a verdict over what was never told
/// is none.
pub(crate) fn can_be_told(task: &Task) -> Result<(), Fault> {
    match task.checks.inspect(|checks| unseen(checks)) {
        None => Ok(()),
        Some((check, what)) => Err(Fault::new(
            FaultClass::Check,
            format_args!(
                "`{check}` looks at {what}, of which those who play elsewhere do not tell: let this case be \
                 played without --runner, or check the output of a command"
            ),
        )),
    }
}

/// A check that can't be carried out over what is told, and what it looks at.
fn unseen(checks: &[Check]) -> Option<(String, &'static str)> {
    let of = |check: &Check| {
        let what = match &check.kind {
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => return unseen(checks),
            CheckKind::File { .. }
            | CheckKind::Script { .. }
            | CheckKind::Reward { .. }
            | CheckKind::Spreadsheet(_)
            | CheckKind::Document(_) => "files of the environment",
            CheckKind::Sight(test) => beside_the_last_screen(test)?,
            _ => return None,
        };
        Some((check.label(), what))
    };
    checks.iter().find_map(of)
}

/// What a check of the screen needs that is not on the last one.
fn beside_the_last_screen(test: &SightTest) -> Option<&'static str> {
    match test {
        SightTest::Window { .. } => Some("windows"),
        SightTest::Process { .. } => Some("programs"),
        SightTest::Changed { .. } => Some("the screen before the agent began"),
        SightTest::Text { number, .. } => {
            let within_play = number.as_ref().is_some_and(|number| number.within_play);
            within_play.then_some("how long was played")
        }
        SightTest::Pixel { .. } | SightTest::Template { .. } => None,
    }
}

fn actions(events: &[Told]) -> Vec<Action> {
    let action = |told: &Told| match (&told.source, &told.body) {
        (Source::Agent, EventBody::Action(action)) => Some(action.clone()),
        _ => None,
    };
    events.iter().filter_map(action).collect()
}

/// Puts what was told into the record, as events from number `first` on, at the times that were told of:
/// between the time that it was asked for (`before`) and now, and never backwards, whatever the runner's
/// clock says.
fn tell(
    attempt: &mut Attempt,
    events: Vec<Told>,
    first: u64,
    mut before: f64,
) -> Result<(), Fault> {
    let now = attempt.table.clock.now();
    let elapsed = attempt.recorder.elapsed().as_secs_f64();
    let mut seq = first;
    for told in events {
        keep_pictures(attempt, &told.body)?;
        let ago = told.at.map_or(0.0, |at| seconds_between(at, now));
        let t = (elapsed - ago).clamp(before, elapsed.max(before));
        before = t;
        let event = Event {
            seq,
            t: (t * 1e4).round() / 1e4,
            at: at(now, elapsed - t),
            source: told.source,
            cause: told.cause.map(|index| first + index as u64),
            body: told.body,
        };
        copy(attempt, &event)?;
        seq += 1;
    }
    // The record goes on from the last event that was copied, which has to be one of now.
    let end = Event {
        seq,
        t: (elapsed * 1e4).round() / 1e4,
        at: now,
        source: Source::Harness,
        cause: None,
        body: EventBody::Note("this is all that the runner tells".to_owned()),
    };
    copy(attempt, &end)
}

fn copy(attempt: &mut Attempt, event: &Event) -> Result<(), Fault> {
    let copied = attempt.recorder.copy(event);
    copied.map_err(|error| evidence_lost(&error))
}

fn seconds_between(at: Timestamp, now: Timestamp) -> f64 {
    now.duration_since(at).as_secs_f64()
}

fn at(now: Timestamp, ago: f64) -> Timestamp {
    let ago = SignedDuration::try_from_secs_f64(ago).unwrap_or_default();
    now.checked_sub(ago).unwrap_or(now)
}

fn keep_pictures(attempt: &Attempt, body: &EventBody) -> Result<(), Fault> {
    let picture: Option<&Picture> = match body {
        EventBody::Observation(seen) => seen.screen.as_ref().map(|screen| &screen.picture),
        EventBody::Screen(record) => Some(&record.screen.picture),
        _ => None,
    };
    let Some(picture) = picture else {
        return Ok(());
    };
    let kept = attempt.table.writer.keep_picture(picture);
    kept.map_err(|error| evidence_lost(&error))
}
