//! One play from its beginning to its last picture. Who plays, and how, is the business of `player` and
//! `bridge`.

use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use agon_agent::Agent;
use agon_agent::play::{Cause, PlayConfig, Player, Stop};
use agon_core::screen::{ScreenMoment, ScreenRecord};
use agon_core::verdict::TurnEnd;
use agon_core::{ActionKind, EventBody, Fault, Observation, PlayStats, Realtime, Source};
use agon_desktop::{Desktop, PanicKey};
use agon_sandbox::Sandbox;
use agon_vision::ocr::Reader;
use futures_util::FutureExt;
use tokio::task::spawn_blocking;

use super::brake::Brake;
use super::film::Film;
use super::judge::Judge;
use super::reports::{record, reports};
use super::{beginning, bridge, player, world};
use crate::apps::Apps;
use crate::attempt::Attempt;
use crate::ends::{self, ended_by, ended_by_loss, not_ready};
use crate::halt::Halt;
use crate::seat::blocking;
use crate::stage::{Gone, Stage, whose};
use crate::turns::{self, Turn};

/// Longer than any play: whoever waits so long is woken by its end.
const EVER: Duration = Duration::from_secs(7 * 24 * 3600);

/// A world that ran on for longer than this before it stood still may have decided the play.
const MUCH: f64 = 0.1;

/// Where a play takes place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) sandbox: &'a dyn Sandbox,
    pub(crate) desktop: &'a Arc<Desktop>,
    pub(crate) apps: &'a Apps,
    pub(crate) rules: &'a Realtime,
}

/// Who is ready to play.
enum Entrant {
    Player(Box<dyn Player>),
    /// Takes turns as well as it can, with these actions.
    Agent(Box<dyn Agent>, Vec<ActionKind>),
}

/// Who plays. An agent outlives its play: it is sent home also after a fault.
enum Contestant<'a> {
    Player(Box<dyn Player>),
    Agent(&'a mut dyn Agent, Vec<ActionKind>),
}

/// What a play came to.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: TurnEnd,
    /// Why, in words.
    pub(super) note: Option<String>,
    pub(super) stats: PlayStats,
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
    stage.remember(&attempt.so_far);
    let mut agent = None;
    let contestant = match enter(attempt).await? {
        Ok(Entrant::Player(player)) => Contestant::Player(player),
        Ok(Entrant::Agent(entered, allowed)) => {
            Contestant::Agent(agent.insert(entered).as_mut(), allowed)
        }
        Err(end) => {
            turn.end = end;
            attempt.end_note = attempt.end_note.take().or_else(|| ends::note(attempt, end));
            last_sight(attempt, &mut stage, end).await?;
            turn.seen = stage.close(attempt)?;
            return Ok(turn);
        }
    };
    let ended = play(attempt, &mut stage, &ground, contestant, &mut turn).await;
    let over = turns::turn_over(attempt);
    let dismissed = match &mut agent {
        Some(agent) => turns::dismiss(attempt, agent.as_mut()).await,
        None => Ok(()),
    };
    let ended = ended?;
    over.and(dismissed)?;
    turn.end = ended.end;
    if let (Some(note), Some(_)) = (&ended.note, &attempt.end_note) {
        attempt.record(Source::Harness, None, EventBody::Note(note.clone()))?;
    }
    if attempt.end_note.is_none() {
        attempt.end_note = ended
            .note
            .or_else(|| ends::note(attempt, ended.end))
            .or_else(|| note(ended.end));
    }
    if ended.stats.overrun > MUCH {
        let note = format!(
            "the world ran on for {:.2} s when it was to stand still: this machine was too busy",
            ended.stats.overrun
        );
        attempt.record(Source::Harness, None, EventBody::Note(note))?;
    }
    turn.seen = stage.close(attempt)?;
    turn.seen.played = Duration::try_from_secs_f64(ended.stats.world).ok();
    attempt.record(Source::Harness, None, EventBody::Play(ended.stats))?;
    Ok(turn)
}

/// How an end that nobody of the trial chose is told.
fn note(end: TurnEnd) -> Option<String> {
    (end == TurnEnd::Operator).then(|| "somebody stopped the play by its panic key".to_owned())
}

/// The last picture, after which nothing is done to the screen any more.
async fn last_sight(
    attempt: &mut Attempt,
    stage: &mut Stage<'_>,
    end: TurnEnd,
) -> Result<(), Fault> {
    match end {
        TurnEnd::ScreenLost => Ok(()),
        _ => stage.last_sight(&mut attempt.recorder).await,
    }
}

/// Makes who plays ready before the world begins to move; or says how the turn has ended already.
async fn enter(attempt: &mut Attempt) -> Result<Result<Entrant, TurnEnd>, Fault> {
    let agents = &attempt.table.agents;
    if let Some(player) = agents.player(&turns::context(attempt)) {
        return Ok(Ok(Entrant::Player(player)));
    }
    let mut agent = match agents.for_trial(&turns::context(attempt)) {
        Ok(agent) => agent,
        Err(error) => return ended_by(attempt, error).map(Err),
    };
    let halt = attempt.halt.clone();
    let started = tokio::select! {
        biased;
        () = halt.asked() => Ok(Err(TurnEnd::Operator)),
        started = turns::start(attempt, agent.as_mut()) => started,
    };
    attempt.book_unfinished();
    let ended = match started {
        Ok(Ok(allowed)) => return Ok(Ok(Entrant::Agent(agent, allowed))),
        Ok(Err(end)) => Ok(end),
        Err(turns::Stop::Agent(error)) => ended_by(attempt, error),
        Err(turns::Stop::Fault(fault)) => Err(fault),
    };
    let over = turns::turn_over(attempt);
    let dismissed = turns::dismiss(attempt, agent.as_mut()).await;
    let end = ended?;
    over.and(dismissed)?;
    Ok(Err(end))
}

async fn play(
    attempt: &mut Attempt,
    stage: &mut Stage<'_>,
    ground: &Ground<'_>,
    contestant: Contestant<'_>,
    turn: &mut Turn,
) -> Result<Ended, Fault> {
    let writer = attempt.table.writer.clone();
    let mut judge = blocking({
        let (desktop, task) = (Arc::clone(ground.desktop), Arc::clone(&attempt.job.task));
        let writer = writer.clone();
        move || Judge::new(&desktop, &task, &writer)
    })
    .await?;
    learn_to_read(attempt).await;
    let began = beginning::begin(ground.desktop, ground.rules, &judge, ground.apps).await?;
    let first = stage.first_sight(&mut attempt.recorder).await;
    let first = first.map_err(not_ready)?;
    if let Some(screen) = &first.screen {
        judge.compare_with(&screen.picture)?;
    }
    let mut film = blocking({
        let desktop = Arc::clone(ground.desktop);
        move || Film::start(&desktop, &writer)
    })
    .await?;
    let guard = Guard(Stop::new());
    let stop = &guard.0;
    let halt = attempt.halt.clone();
    let (reporter, mut reports) = reports();
    let (world, asks) = world::link();
    let (trouble, blinded) = (Mutex::new(None), OnceLock::new());
    let brake = &Brake::new(ground.sandbox, stop, began);
    let halting = brake.at_the_end().shared();
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
                    let ended = player::play(
                        attempt,
                        player,
                        config,
                        stop,
                        &mut reports,
                        ground,
                        &trouble,
                    );
                    ended.await
                }
                Contestant::Agent(agent, allowed) => {
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
                        brake,
                        stop,
                        reports: &mut reports,
                        allowed,
                    };
                    bridge.play(attempt, agent, first, turn).await
                }
            }
        };
        tokio::select! {
            biased;
            ended = playing => ended,
            never = judge.watch(ground.apps, brake, stop, &reporter, &blinded) => match never {},
            never = film.roll(&reporter) => match never {},
            never = obey(&halt, stop) => match never {},
            never = world::serve(brake, asks, &trouble) => match never {},
            never = halting.clone().then(|_| pending::<Infallible>()) => match never {},
        }
    };
    drop(guard);
    let mut ended = ended?;
    if let Err(why) = halting.await {
        let note = format!("the world went on until its last picture: {why}");
        attempt.record(Source::Harness, None, EventBody::Note(note))?;
    }
    if let (Some(why), TurnEnd::Left) = (blinded.into_inner(), ended.end) {
        let gone = whose(Gone::ScreenLost(why), Some(ground.sandbox)).await;
        ended.end = ended_by_loss(attempt, gone)?;
    }
    film.end(&reporter).await;
    for report in reports.rest() {
        record(attempt, report)?;
    }
    last_sight(attempt, stage, ended.end).await?;
    ended.stats.world = brake.world().as_secs_f64().max(ended.stats.played);
    Ok(ended)
}

/// Reading takes a while to begin with: that is done before the world moves. Whoever reads later says
/// why that can't be done, if so.
async fn learn_to_read(attempt: &Attempt) {
    if attempt.task().asks_for_reading() {
        spawn_blocking(|| Reader::shared().is_ok()).await.ok();
    }
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

/// Tells everybody to stop when an operator wants it.
async fn obey(halt: &Halt, stop: &Stop) -> Infallible {
    halt.asked().await;
    stop.ask(Cause::Operator);
    pending().await
}

/// Comes back when a play is told to stop, with the cause.
pub(super) async fn stopped(stop: &Stop) -> Cause {
    let waiting = stop.clone();
    // Every play is told to stop in the end: nobody waits for ever.
    let _ = spawn_blocking(move || waiting.wait(EVER)).await;
    stop.cause().unwrap_or(Cause::Asked)
}
