//! A trial that somebody plays in an environment of his own: what he tells becomes the record.

use std::sync::Arc;

use agon_agent::elsewhere::{Commission, Told};
use agon_core::{Action, Event, EventBody, Fault, FaultClass, Picture, Source};
use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::attempt::{Attempt, Spender, evidence_lost};
use crate::seen::Seen;
use crate::trial::late;
use crate::turns::Turn;

pub(crate) async fn take(attempt: &mut Attempt) -> Result<Turn, Fault> {
    let table = Arc::clone(&attempt.table);
    let Some(runner) = table.agents.elsewhere() else {
        return Err(Fault::new(FaultClass::Internal, "nobody plays elsewhere"));
    };
    let task = Arc::clone(&attempt.job.task);
    let trial = attempt.trial.clone();
    let limit = task.limits.seconds.duration();
    let note = "the runner plays this case in an environment of its own, and tells of it";
    let begun = attempt.record(Source::Harness, None, EventBody::Note(note.to_owned()))?;
    let before = attempt.recorder.elapsed().as_secs_f64();
    let commission = Commission {
        task: &task,
        trial: &trial,
    };
    let played = attempt.timed(Spender::Agent, timeout(limit, runner.play(&commission)));
    let delivered = played.await.map_err(|_| late("the runner", limit))??;
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
