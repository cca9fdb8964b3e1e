//! One play from its beginning to its last picture. Who plays, and how, is the business of `player` and
//! `turns`.

use std::sync::Arc;
use std::time::Duration;

use agon_agent::Agent;
use agon_agent::play::{Cause, PlayConfig, Player, Stop};
use agon_core::screen::{ScreenMoment, ScreenRecord};
use agon_core::verdict::TurnEnd;
use agon_core::{ActionKind, EventBody, Fault, Observation, PlayStats, Realtime, Source};
use agon_desktop::{Desktop, PanicKey};
use agon_sandbox::Sandbox;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::film::Film;
use super::judge::Judge;
use super::reports::{record, reports};
use super::{beginning, bridge, player, world};
use crate::attempt::Attempt;
use crate::seat::blocking;
use crate::stage::Stage;
use crate::turns::{self, Turn, ended_by, ended_by_loss};

/// Longer than any play: whoever waits so long is woken by its end.
const EVER: Duration = Duration::from_secs(7 * 24 * 3600);

/// Where a play takes place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) sandbox: &'a dyn Sandbox,
    pub(crate) desktop: &'a Arc<Desktop>,
    pub(crate) rules: &'a Realtime,
}

/// Who plays.
enum Contestant {
    Player(Box<dyn Player>),
    /// Takes turns as well as it can, with these actions.
    Agent(Box<dyn Agent>, Vec<ActionKind>),
}

/// What a play came to.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: TurnEnd,
    /// Why, in words.
    pub(super) note: Option<String>,
    pub(super) stats: PlayStats,
}

/// What there is when a play has ended.
struct Outcome {
    ended: Ended,
    agent: Option<Box<dyn Agent>>,
    /// When the world began to move.
    began: Instant,
}

impl Contestant {
    fn agent(self) -> Option<Box<dyn Agent>> {
        match self {
            Self::Player(_) => None,
            Self::Agent(agent, _) => Some(agent),
        }
    }
}

impl Ended {
    /// Before anything was played.
    fn early(end: TurnEnd) -> Self {
        Self {
            end,
            note: None,
            stats: PlayStats::default(),
        }
    }
}

/// Tells everybody to stop when it is dropped, however a play comes to its end.
struct Guard(Stop);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.ask(Cause::Asked);
    }
}

pub(crate) async fn take(
    attempt: &mut Attempt,
    mut stage: Stage<'_>,
    ground: Ground<'_>,
) -> Result<Turn, Fault> {
    let mut turn = Turn::default();
    let contestant = match enter(attempt).await? {
        Ok(contestant) => contestant,
        Err(end) => {
            turn.end = end;
            return close(attempt, stage, turn).await;
        }
    };
    let Outcome {
        ended: played,
        agent,
        began,
    } = play(attempt, &mut stage, &ground, contestant, &mut turn).await?;
    turn.end = played.end;
    if attempt.end_note.is_none() {
        let limits = &attempt.task().limits;
        attempt.end_note = played
            .note
            .or_else(|| note(played.end))
            .or_else(|| turns::note(played.end, limits));
    }
    if let (Some(note), true) = (&attempt.end_note, played.end == TurnEnd::Crashed) {
        let body = EventBody::Note(note.clone());
        attempt.record(Source::Harness, None, body)?;
    }
    if let Some(mut agent) = agent {
        turns::dismiss(attempt, agent.as_mut()).await?;
    }
    let mut turn = close(attempt, stage, turn).await?;
    let mut stats = played.stats;
    stats.world = (began.elapsed().as_secs_f64() - stats.hidden).max(stats.played);
    turn.seen.played = Duration::try_from_secs_f64(stats.world).ok();
    attempt.record(Source::Harness, None, EventBody::Play(stats))?;
    Ok(turn)
}

/// How an end that nobody of the trial chose is told.
fn note(end: TurnEnd) -> Option<String> {
    (end == TurnEnd::Operator).then(|| "somebody stopped the play by its panic key".to_owned())
}

/// The last picture, after which nothing is done to the screen any more.
async fn close(attempt: &mut Attempt, mut stage: Stage<'_>, turn: Turn) -> Result<Turn, Fault> {
    if turn.end != TurnEnd::ScreenLost {
        stage.last_sight(&mut attempt.recorder).await?;
    }
    let seen = stage.close(attempt)?;
    Ok(Turn { seen, ..turn })
}

/// Makes who plays ready before the world begins to move; or says how the turn has ended already.
async fn enter(attempt: &mut Attempt) -> Result<Result<Contestant, TurnEnd>, Fault> {
    let agents = &attempt.table.agents;
    if let Some(player) = agents.player(&turns::context(attempt)) {
        return Ok(Ok(Contestant::Player(player)));
    }
    let mut agent = match agents.for_trial(&turns::context(attempt)) {
        Ok(agent) => agent,
        Err(error) => return ended_by(attempt, error).map(Err),
    };
    match turns::start(attempt, agent.as_mut()).await {
        Ok(Ok(allowed)) => Ok(Ok(Contestant::Agent(agent, allowed))),
        Ok(Err(end)) => Ok(Err(end)),
        Err(turns::Stop::Agent(error)) => ended_by(attempt, error).map(Err),
        Err(turns::Stop::Fault(fault)) => Err(fault),
    }
}

async fn play(
    attempt: &mut Attempt,
    stage: &mut Stage<'_>,
    ground: &Ground<'_>,
    contestant: Contestant,
    turn: &mut Turn,
) -> Result<Outcome, Fault> {
    let writer = attempt.table.writer.clone();
    let mut judge = blocking({
        let (desktop, task) = (Arc::clone(ground.desktop), Arc::clone(&attempt.job.task));
        let writer = writer.clone();
        move || Judge::new(&desktop, &task, &writer)
    })
    .await?;
    let began = beginning::begin(ground.desktop, ground.rules, &judge, ground.sandbox).await?;
    let first = match stage.first_sight(&mut attempt.recorder).await {
        Ok(first) => first,
        Err(gone) => {
            let end = ended_by_loss(attempt, gone)?;
            return Ok(Outcome {
                ended: Ended::early(end),
                agent: contestant.agent(),
                began,
            });
        }
    };
    if let Some(screen) = &first.screen {
        judge.compare_with(&screen.picture);
    }
    let mut film = blocking({
        let desktop = Arc::clone(ground.desktop);
        move || Film::start(&desktop, &writer)
    })
    .await?;
    let guard = Guard(Stop::new());
    let stop = &guard.0;
    let (reporter, mut reports) = reports();
    let (world, asks) = world::link();
    let ended: Result<_, Fault> = {
        let playing = async {
            match contestant {
                Contestant::Player(player) => {
                    record_first(attempt, first)?;
                    let config = PlayConfig {
                        clock: ground.rules.clock,
                        world: Some(Arc::new(world)),
                        seed: attempt.task().brief(attempt.job.seed).seed,
                        frames: ground.rules.frames,
                        ..PlayConfig::new(ground.desktop.address().clone())
                    };
                    let ended = player::play(attempt, player, config, stop, &mut reports);
                    Ok((ended.await?, None))
                }
                Contestant::Agent(mut agent, allowed) => {
                    let _panic_key = blocking({
                        let (desktop, stop) = (Arc::clone(ground.desktop), stop.clone());
                        move || {
                            let signal = Arc::clone(stop.signal());
                            PanicKey::watch(&desktop, PanicKey::DEFAULT, signal)
                        }
                    })
                    .await?;
                    let mut bridge = bridge::Bridge {
                        stage,
                        ground,
                        stop,
                        reports: &mut reports,
                        allowed,
                    };
                    let ended = bridge.play(attempt, agent.as_mut(), first, turn);
                    Ok((ended.await?, Some(agent)))
                }
            }
        };
        tokio::select! {
            biased;
            ended = playing => ended,
            never = judge.watch(ground.sandbox, stop, &reporter) => match never {},
            never = film.roll(&reporter) => match never {},
            never = world::serve(ground.sandbox, asks) => match never {},
        }
    };
    drop(guard);
    let (ended, agent) = ended?;
    film.end(&reporter).await;
    for report in reports.rest() {
        record(attempt, report)?;
    }
    Ok(Outcome {
        ended,
        agent,
        began,
    })
}

fn record_first(attempt: &mut Attempt, first: Observation) -> Result<(), Fault> {
    if let Some(screen) = first.screen {
        let record = ScreenRecord {
            what: ScreenMoment::Ready,
            screen,
            around: None,
        };
        attempt.record(Source::Environment, None, EventBody::Screen(record))?;
    }
    Ok(())
}

/// Comes back when a play is told to stop, with the cause.
pub(super) async fn stopped(stop: &Stop) -> Cause {
    let waiting = stop.clone();
    // Every play is told to stop in the end: nobody waits for ever.
    let _ = spawn_blocking(move || waiting.wait(EVER)).await;
    stop.cause().unwrap_or(Cause::Asked)
}
