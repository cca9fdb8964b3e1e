//! The loop that drives a player through one task, and the guardian that cuts it off.
//!
//! The player runs in a thread of its own, and may block, panic or loop in it for ever. Two more threads
//! belong to a play: one keeps scheduled actions, and the guardian waits for the stop and then takes the
//! keyboard away, whatever the player does.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_desktop::registry::with_desktop;
use agon_desktop::{Desktop, DesktopError, PanicKey};

use super::config::PlayConfig;
use super::context::Play;
use super::contract::{Flow, PlayError, Player};
use super::core::Core;
use super::playing::{Outcome, PlayEnd, Played, Playing};
use super::stop::Stop;
use super::task::Task;

/// A step takes no less: a player that does nothing leaves the processor to its game.
const SHORTEST_STEP: Duration = Duration::from_millis(1);

/// As good as for ever: the guardian is woken by the stop, and by the end of the play.
const LONG: Duration = Duration::from_secs(3600);

/// Starts to play. See [`prepare`] for who wants the player back when there is no desktop.
pub fn start(
    player: Box<dyn Player>,
    task: Task,
    config: PlayConfig,
    stop: Stop,
) -> Result<Playing, DesktopError> {
    Ok(prepare(&config, stop)?.play(player, task))
}

/// All that can go wrong before a player is needed: connections to the desktop, for the player alone.
pub fn prepare(config: &PlayConfig, stop: Stop) -> Result<Prepared, DesktopError> {
    let desktop = Arc::new(Desktop::connect(&config.address)?);
    // Looks at the keyboard now, so that the first key is as fast as all others.
    desktop.keyboard().state()?;
    let panic_key = config
        .panic_key
        .map(|key| PanicKey::watch(&desktop, key, Arc::clone(stop.signal())))
        .transpose()?;
    let core = Arc::new(Core::new(desktop, config, stop)?);
    Ok(Prepared { core, panic_key })
}

/// A desktop that is ready to be played on.
#[derive(Debug)]
pub struct Prepared {
    core: Arc<Core>,
    panic_key: Option<PanicKey>,
}

impl Prepared {
    pub fn play(self, player: Box<dyn Player>, task: Task) -> Playing {
        let Self { core, panic_key } = self;
        let outcome = Arc::new(Outcome::default());
        let playing = Playing::new(Arc::clone(&core), Arc::clone(&outcome));
        // Out of reach of a thread that does not start.
        let player = Arc::new(Mutex::new(Some(player)));
        let started = spawn_guardian(&core, &outcome, panic_key)
            .and_then(|()| spawn_scheduler(&core))
            .and_then(|()| spawn_player(&core, &outcome, &player, task));
        if let Err(error) = started {
            core.cut();
            tell(
                &core,
                &outcome,
                Played {
                    end: PlayEnd::Broken(format!("can't start a thread: {error}")),
                    stats: core.stats(),
                    player: take(&player),
                },
            );
        }
        playing
    }
}

/// The play is over.
fn tell(core: &Core, outcome: &Outcome, played: Played) {
    outcome.set(played);
    core.stop.signal().nudge();
}

type Slot = Arc<Mutex<Option<Box<dyn Player>>>>;

fn take(slot: &Slot) -> Option<Box<dyn Player>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
}

fn spawn_guardian(
    core: &Arc<Core>,
    outcome: &Arc<Outcome>,
    panic_key: Option<PanicKey>,
) -> io::Result<()> {
    let (core, outcome) = (Arc::clone(core), Arc::clone(outcome));
    spawn("agon-guardian", move || {
        let signal = core.stop.signal();
        while !signal.wait_unless(LONG, || outcome.is_over()) && !outcome.is_over() {}
        core.cut();
        drop(panic_key);
    })
}

fn spawn_scheduler(core: &Arc<Core>) -> io::Result<()> {
    let core = Arc::clone(core);
    spawn("agon-on-time", move || core.keep_appointments())
}

fn spawn_player(
    core: &Arc<Core>,
    outcome: &Arc<Outcome>,
    slot: &Slot,
    task: Task,
) -> io::Result<()> {
    let (core, outcome, slot) = (Arc::clone(core), Arc::clone(outcome), Arc::clone(slot));
    spawn("agon-player", move || {
        if let Some(mut player) = take(&slot) {
            let end = play(&core, player.as_mut(), &task);
            let played = Played {
                end,
                stats: core.stats(),
                player: Some(player),
            };
            tell(&core, &outcome, played);
        }
    })
}

/// One task from its first hook to its last.
fn play(core: &Arc<Core>, player: &mut dyn Player, task: &Task) -> PlayEnd {
    let switch = player.stop_event();
    if let Some(switch) = &switch {
        switch.attach(&core.stop);
    }
    let mut context = Play::new(Arc::clone(core), task.window_name.clone());
    let ran = within(core, || run(core, player, task, &mut context));
    let end = match (ran, core.stop.cause()) {
        // Whatever comes after the stop comes of it.
        (_, Some(cause)) => PlayEnd::Stopped(cause),
        (Ok(Ok(())), None) => PlayEnd::Finished,
        (Ok(Err(error)), None) => error.into(),
        (Err(words), None) => PlayEnd::Panicked(words),
    };
    core.cut();
    let finished = within(core, || player.finish_task(task));
    if let Some(switch) = &switch {
        switch.detach(&core.stop);
    }
    match (end, finished) {
        (PlayEnd::Finished, Err(words)) => PlayEnd::Panicked(words),
        (end, _) => end,
    }
}

/// Runs a hook of the player on its desktop; gives the words of a panic.
fn within<T>(core: &Core, hook: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(|| with_desktop(&core.desktop, hook)))
        .map_err(|panic| words(panic.as_ref()))
}

fn run(
    core: &Core,
    player: &mut dyn Player,
    task: &Task,
    context: &mut Play,
) -> Result<(), PlayError> {
    core.check()?;
    player.init_task(task, context)?;
    loop {
        core.check()?;
        core.begin_step()?;
        let began = Instant::now();
        match player.play_env(task, context) {
            Flow::Continue => {}
            Flow::Finish => return Ok(()),
            Flow::Fail(error) => return Err(error),
        }
        core.end_step()?;
        let left = SHORTEST_STEP.saturating_sub(began.elapsed());
        if !left.is_zero() {
            core.stop.wait(left);
        }
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it did not say why").to_owned()
}
