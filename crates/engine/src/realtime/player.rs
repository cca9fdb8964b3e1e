//! An agent that plays in real time: its own thread does, by itself; here its end is awaited.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agon_agent::play::{Cause, PlayConfig, PlayEnd, Played, Player, Playing, Stop, Task, prepare};
use agon_core::verdict::TurnEnd;
use agon_core::{EventBody, Fault, FaultClass, Limits, PlayStats, Source, WorldClock};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use super::brake::Trouble;
use super::play::{Ended, Ground, stopped};
use super::reactions::Reacting;
use super::reports::{Reports, record};
use crate::attempt::{Attempt, Spender};
use crate::ends::ended_by_loss;
use crate::seat;
use crate::stage::{Gone, whose};
use crate::turns::calls;

/// For a player to come back after it was told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// How often its progress is looked at.
const TICK: Duration = Duration::from_millis(250);

/// Where the world stands still while the player thinks, the wall clock may show this many times as much.
const PATIENCE: u32 = 10;

pub(super) async fn play(
    attempt: &mut Attempt,
    player: Box<dyn Player>,
    config: PlayConfig,
    stop: &Stop,
    reports: &mut Reports,
    ground: &Ground<'_>,
    trouble: &Mutex<Option<Trouble>>,
) -> Result<Ended, Fault> {
    let task = wire_task(attempt);
    let limits = attempt.task().limits.clone();
    let clock = config.clock;
    let prepared = spawn_blocking({
        let stop = stop.clone();
        move || prepare(&config, stop)
    });
    let prepared = prepared
        .await
        .map_err(|error| Fault::new(FaultClass::Internal, error))?
        .map_err(|error| seat::fault(&error))?;
    let began = (Instant::now(), attempt.table.clock.monotonic());
    let playing = prepared.play(player, task);
    let mut reacting = Reacting::new(attempt);
    let over = await_end(
        attempt,
        (&playing, &mut reacting),
        began.0,
        clock,
        &limits,
        stop,
        reports,
    );
    over.await?;
    reacting.record(attempt, &playing)?;
    attempt.book(Spender::Agent, began.1);
    let played = match playing.wait(Duration::ZERO) {
        Some(played) => played,
        None => {
            let note = format!("the player did not come back in {} s", GRACE.as_secs());
            attempt.record(Source::Harness, None, EventBody::Note(note))?;
            spawn_blocking(move || playing.abandon())
                .await
                .map_err(|error| Fault::new(FaultClass::Internal, error))?
        }
    };
    let trouble = trouble
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    ended(attempt, played, ground, trouble).await
}

async fn await_end(
    attempt: &mut Attempt,
    (playing, reacting): (&Playing, &mut Reacting),
    began: Instant,
    clock: WorldClock,
    limits: &Limits,
    stop: &Stop,
    reports: &mut Reports,
) -> Result<(), Fault> {
    let mut over = pin!(playing.over());
    let mut stopped = pin!(stopped(stop));
    loop {
        let stats = playing.stats();
        let left = time_left(began.elapsed(), &stats, clock, limits);
        if left.is_zero() {
            stop.ask(Cause::Timeout);
        }
        calls(attempt, None)?;
        reacting.look(attempt, playing)?;
        attempt.steps = u32::try_from(stats.steps).unwrap_or(u32::MAX);
        let watch = &attempt.table.watch;
        watch.step(&attempt.trial, attempt.steps, limits.steps);
        tokio::select! {
            biased;
            () = &mut over => return Ok(()),
            _ = &mut stopped => {
                // The guardian has its keyboard by now, whether it comes back or not.
                timeout(GRACE, over).await.ok();
                return Ok(());
            }
            report = reports.next() => record(attempt, report)?,
            () = sleep(left.min(TICK)) => {}
        }
    }
}

/// Of the world's time, which is not that of the wall where the world stands still now and then.
fn time_left(wall: Duration, stats: &PlayStats, clock: WorldClock, limits: &Limits) -> Duration {
    let seconds = limits.seconds.duration();
    match clock {
        WorldClock::Realtime | WorldClock::Latency { .. } => seconds.saturating_sub(wall),
        WorldClock::Paused { .. } => {
            let played = Duration::try_from_secs_f64(stats.played).unwrap_or_default();
            let patience = seconds.saturating_mul(PATIENCE).saturating_sub(wall);
            seconds.saturating_sub(played).min(patience)
        }
    }
}

/// What a player is told: no more than any agent is.
fn wire_task(attempt: &Attempt) -> Task {
    let task = attempt.task();
    let brief = task.brief(attempt.job.seed);
    let rules = task.realtime.as_ref();
    Task {
        task_id: brief.trial,
        env_name: brief.environment,
        window_name: rules
            .and_then(|rules| rules.window.clone())
            .unwrap_or_default(),
        task_description: brief.instruction,
        timeout: task.limits.seconds.duration().as_secs().max(1),
        check_env_interval_seconds: rules.map_or_else(Task::default_interval, |rules| {
            rules.interval.duration().as_secs_f64()
        }),
        success_criteria: serde_json::Map::new(),
        num_frames: rules.map_or_else(Task::default_frames, |rules| rules.frames),
    }
}

/// Whose doing it was.
async fn ended(
    attempt: &mut Attempt,
    played: Played,
    ground: &Ground<'_>,
    trouble: Option<Trouble>,
) -> Result<Ended, Fault> {
    let (end, note) = match played.end {
        PlayEnd::Finished => (TurnEnd::Finished, None),
        PlayEnd::Stopped(cause) => (of_cause(cause), None),
        PlayEnd::Failed(why) => (TurnEnd::Crashed, Some(format!("the player gave up: {why}"))),
        PlayEnd::Panicked(why) => (
            TurnEnd::Crashed,
            Some(format!("the player panicked: {why}")),
        ),
        PlayEnd::ScreenLost(why) => {
            let gone = whose(Gone::ScreenLost(why), Some(ground.sandbox)).await;
            (ended_by_loss(attempt, gone)?, None)
        }
        PlayEnd::Broken(why) => match trouble {
            Some(trouble) => (trouble.end(attempt)?, None),
            None => return Err(Fault::new(FaultClass::Environment, why)),
        },
    };
    Ok(Ended {
        end,
        note,
        stats: played.stats,
    })
}

pub(super) fn of_cause(cause: Cause) -> TurnEnd {
    match cause {
        Cause::Asked => TurnEnd::Left,
        Cause::Timeout => TurnEnd::TimeLimit,
        Cause::EnvEnded => TurnEnd::WorldEnded,
        Cause::Operator => TurnEnd::Operator,
    }
}

#[cfg(test)]
mod tests {
    use agon_core::Seconds;

    use super::*;

    #[test]
    fn where_the_world_stands_still_its_own_time_counts() {
        let limits = Limits {
            seconds: Seconds::whole(10),
            ..Limits::default()
        };
        let left = |clock, wall, played| {
            let stats = PlayStats {
                played,
                ..PlayStats::default()
            };
            time_left(Duration::from_secs(wall), &stats, clock, &limits).as_secs()
        };
        let paused = WorldClock::Paused {
            slice: WorldClock::SLICE,
        };
        assert_eq!(left(WorldClock::Realtime, 4, 1.0), 6);
        assert_eq!(left(WorldClock::Realtime, 40, 1.0), 0);
        assert_eq!(left(paused, 40, 1.0), 9);
        assert_eq!(left(paused, 95, 1.0), 5);
        assert_eq!(left(paused, 100, 1.0), 0);
    }
}
