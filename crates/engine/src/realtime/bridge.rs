//! An agent that takes turns, in a world that does not wait for it: it sees the screen as it is, and what
//! it does is done at once. The clock of the task may delay that, or hold the world while it thinks.

use std::pin::{Pin, pin};
use std::time::Duration;

use agon_agent::Agent;
use agon_agent::play::{Cause, Stop};
use agon_core::realtime::Percentiles;
use agon_core::verdict::TurnEnd;
use agon_core::{
    Action, ActionKind, EventBody, Fault, Limits, Observation, PlayStats, Source, WorldClock,
};
use agon_desktop::{Key, KeyCombination, PanicKey};
use agon_stats::percentile;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::brake::{Brake, Trouble};
use super::play::{Ended, Ground, stopped};
use super::player::of_cause;
use super::reports::{Reports, record};
use crate::attempt::{Attempt, Spender};
use crate::ends::{ended_by, ended_by_loss};
use crate::stage::{Gone, Stage};
use crate::turns::{RECORDING, Turn, Wish, calls, observe, over_limit, take_in};

pub(super) struct Bridge<'a, 'b> {
    pub(super) stage: &'a mut Stage<'b>,
    pub(super) ground: &'a Ground<'a>,
    pub(super) brake: &'a Brake<'a>,
    pub(super) stop: &'a Stop,
    pub(super) reports: &'a mut Reports,
    pub(super) allowed: Vec<ActionKind>,
}

/// What leaves the loop: an end, or a fault.
enum Leave {
    End(TurnEnd),
    Fault(Fault),
}

impl Leave {
    fn of(end: Result<TurnEnd, Fault>) -> Self {
        match end {
            Ok(end) => Self::End(end),
            Err(fault) => Self::Fault(fault),
        }
    }
}

impl From<Fault> for Leave {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What is counted on the way.
#[derive(Debug)]
struct Counts {
    began: Instant,
    actions: u64,
    frames: u64,
    /// Seconds from a picture to the action that answers it.
    latencies: Vec<f64>,
    /// Wall time that the world did not see.
    hidden: Duration,
    /// When the world is to stand still again, where it does.
    due: Option<Instant>,
    /// The longest that it ran on after that.
    overrun: Duration,
}

impl Bridge<'_, '_> {
    pub(super) async fn play(
        &mut self,
        attempt: &mut Attempt,
        agent: &mut dyn Agent,
        first: Observation,
        turn: &mut Turn,
    ) -> Result<Ended, Fault> {
        let mut counts = Counts {
            began: Instant::now(),
            actions: 0,
            frames: 0,
            latencies: Vec::new(),
            hidden: Duration::ZERO,
            due: None,
            overrun: Duration::ZERO,
        };
        let turns = self.take_turns(attempt, agent, first, turn, &mut counts);
        let end = match turns.await {
            Ok(end) | Err(Leave::End(end)) => end,
            Err(Leave::Fault(fault)) => return Err(fault),
        };
        self.stop.ask(Cause::Asked);
        let stats = counts.stats(attempt.steps);
        if end != TurnEnd::ScreenLost
            && let Err(Gone::Fault(fault)) = self.stage.let_go(&mut attempt.recorder).await
        {
            return Err(fault);
        }
        Ok(Ended {
            end,
            note: None,
            stats,
        })
    }

    async fn take_turns(
        &mut self,
        attempt: &mut Attempt,
        agent: &mut dyn Agent,
        first: Observation,
        turn: &mut Turn,
        counts: &mut Counts,
    ) -> Result<TurnEnd, Leave> {
        let limits = attempt.task().limits.clone();
        let keeps_actions = attempt.task().asks_for_actions();
        let stop = self.stop.clone();
        let mut stopped = pin!(stopped(&stop));
        let mut observation = first;
        let body = EventBody::Observation(observation.clone());
        let mut cause = attempt.record(Source::Environment, None, body)?;
        loop {
            let seen = Instant::now();
            counts.frames += u64::from(observation.screen.is_some());
            let held = hold(self.ground, self.brake).await;
            held.map_err(|trouble| troubled(attempt, trouble))?;
            counts.stands_still(Instant::now());
            let left = counts.left(&limits);
            let thinking = timeout(limits.step.duration().min(left), agent.act(&observation));
            let began = attempt.table.clock.monotonic();
            let thought = self.meanwhile(attempt, stopped.as_mut(), thinking).await;
            attempt.book(Spender::Agent, began);
            let released = release(self.ground, self.brake, seen, counts).await;
            released.map_err(|trouble| troubled(attempt, trouble))?;
            let answer = match thought? {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => return Ok(ended_by(attempt, error)?),
                Err(_) if limits.step.duration() < left => return Ok(TurnEnd::Silent),
                Err(_) => return Ok(TurnEnd::TimeLimit),
            };
            attempt.steps += 1;
            let watch = &attempt.table.watch;
            watch.step(&attempt.trial, attempt.steps, limits.steps);
            match take_in(attempt, &mut cause, answer, &mut self.allowed)? {
                Wish::Refused(why) => observation = why,
                Wish::Action(action) if is_reserved(&action) => {
                    let why = format!("{} is the operator's alone", PanicKey::DEFAULT);
                    observation = Observation::error(why);
                }
                Wish::Action(action) => {
                    if keeps_actions {
                        turn.actions.push(action.clone());
                    }
                    if let Some(end) = turn.ended_with(&action) {
                        return Ok(end);
                    }
                    if let WorldClock::Latency { delay } = self.ground.rules.clock {
                        let delay = sleep(delay.duration());
                        self.meanwhile(attempt, stopped.as_mut(), delay).await?;
                    }
                    counts.actions += 1;
                    counts.latencies.push(seen.elapsed().as_secs_f64());
                    let began = attempt.table.clock.monotonic();
                    let performed = self
                        .perform(attempt, stopped.as_mut(), &action, cause, &limits, counts)
                        .await;
                    attempt.book(Spender::Environment, began);
                    if let Err(Leave::End(end)) = &performed {
                        turn.left_with(&action, *end);
                    }
                    observation = performed?;
                }
            }
            cause = observe(attempt, cause, &mut observation)?;
            if let Some(end) = over_limit(attempt, counts.deadline(&limits)) {
                return Ok(end);
            }
        }
    }

    /// Does what the agent wants, lets the world run where it stood still, and looks.
    async fn perform(
        &mut self,
        attempt: &mut Attempt,
        mut stopped: Pin<&mut impl Future<Output = Cause>>,
        action: &Action,
        cause: u64,
        limits: &Limits,
        counts: &mut Counts,
    ) -> Result<Observation, Leave> {
        let began = Instant::now();
        let deadline = counts.deadline(limits);
        let done = {
            let recorder = &mut attempt.recorder;
            let performing = self.stage.perform(action, deadline, cause, recorder);
            tokio::select! {
                biased;
                cause = stopped.as_mut() => return Err(Leave::End(of_cause(cause))),
                done = performing => done,
            }
        };
        let mut seen = done.map_err(|gone| lost(attempt, gone))?;
        if let WorldClock::Paused { slice } = self.ground.rules.clock {
            let due = Instant::now().max(began + slice.duration());
            counts.due = Some(due);
            let rest = sleep_until(due);
            self.meanwhile(attempt, stopped, rest).await?;
            let recorder = &mut attempt.recorder;
            let look = self
                .stage
                .perform(&Action::Screenshot, deadline, cause, recorder);
            seen.screen = look.await.map_err(|gone| lost(attempt, gone))?.screen;
        }
        Ok(seen)
    }

    /// Awaits something while the record is kept; a stop comes first.
    async fn meanwhile<T>(
        &mut self,
        attempt: &mut Attempt,
        mut stopped: Pin<&mut impl Future<Output = Cause>>,
        work: impl Future<Output = T>,
    ) -> Result<T, Leave> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                cause = stopped.as_mut() => return Err(Leave::End(of_cause(cause))),
                report = self.reports.next() => record(attempt, report)?,
                () = sleep(RECORDING) => calls(attempt, None)?,
                done = work.as_mut() => return Ok(done),
            }
        }
    }
}

/// Stops the world where it waits for the agent.
async fn hold(ground: &Ground<'_>, brake: &Brake<'_>) -> Result<(), Trouble> {
    if let WorldClock::Paused { .. } = ground.rules.clock {
        brake.hold().await?;
    }
    Ok(())
}

/// Lets it go on; it has not seen anything since `seen`.
async fn release(
    ground: &Ground<'_>,
    brake: &Brake<'_>,
    seen: Instant,
    counts: &mut Counts,
) -> Result<(), Trouble> {
    if let WorldClock::Paused { .. } = ground.rules.clock {
        counts.hidden += seen.elapsed();
        brake.release().await?;
    }
    Ok(())
}

/// Whether an action would press the key that stops everything.
fn is_reserved(action: &Action) -> bool {
    let reserved = |key: &Key| *key == PanicKey::DEFAULT;
    match action {
        Action::Key { keys, .. } => KeyCombination::sequence(keys)
            .is_ok_and(|sequence| sequence.iter().flat_map(|one| one.keys()).any(reserved)),
        Action::KeyDown { key } => key.parse().is_ok_and(|key| reserved(&key)),
        _ => false,
    }
}

fn lost(attempt: &mut Attempt, gone: Gone) -> Leave {
    Leave::of(ended_by_loss(attempt, gone))
}

fn troubled(attempt: &mut Attempt, trouble: Trouble) -> Leave {
    Leave::of(trouble.end(attempt))
}

impl Counts {
    fn stands_still(&mut self, now: Instant) {
        if let Some(due) = self.due.take() {
            self.overrun = self.overrun.max(now.saturating_duration_since(due));
        }
    }

    /// When the time is up, which the world has not seen all of.
    fn deadline(&self, limits: &Limits) -> Instant {
        self.began + limits.seconds.duration() + self.hidden
    }

    fn left(&self, limits: &Limits) -> Duration {
        self.deadline(limits)
            .saturating_duration_since(Instant::now())
    }

    fn stats(mut self, steps: u32) -> PlayStats {
        let played = self
            .began
            .elapsed()
            .saturating_sub(self.hidden)
            .as_secs_f64();
        self.latencies.sort_unstable_by(f64::total_cmp);
        let at = |percent| percentile(&self.latencies, percent);
        let latency = || {
            Some(Percentiles {
                p50: at(50.0)?,
                p90: at(90.0)?,
                p99: at(99.0)?,
                max: *self.latencies.last()?,
            })
        };
        PlayStats {
            played,
            steps: steps.into(),
            actions: self.actions,
            actions_per_second: if played > 0.0 {
                self.actions as f64 / played
            } else {
                0.0
            },
            frames_seen: self.frames,
            latency: latency(),
            hidden: self.hidden.as_secs_f64(),
            overrun: self.overrun.as_secs_f64(),
            ..PlayStats::default()
        }
    }
}
