//! What all parts of a play share: the desktop, the signal to stop, the plan and the counts. Every
//! action goes through here, and none after the stop.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agon_core::realtime::WorldClock;
use agon_desktop::screen::FrameStream;
use agon_desktop::{Desktop, DesktopError, Key, monotonic};
use tokio_util::sync::CancellationToken;

use super::act::Act;
use super::config::PlayConfig;
use super::contract::PlayError;
use super::plan::{Next, Plan, Planned, Wait};
use super::stats::Tally;
use super::stop::Stop;
use super::world::Brakes;

/// What a stream of frames keeps at most.
const MOST_FRAMES: usize = 64;

/// As good as for ever: what ends the wait is a change of the plan.
const LONG: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(super) struct Core {
    pub(super) desktop: Arc<Desktop>,
    pub(super) stop: Stop,
    pub(super) seed: u64,
    /// Frames of history.
    pub(super) keep: usize,
    /// Of every action.
    pub(super) delay: Option<Duration>,
    pub(super) brakes: Option<Brakes>,
    /// Held while the world is told to stop or go, so that the last word is that of the end.
    pub(super) pedal: Mutex<()>,
    /// Pressed by people only.
    reserved: Option<Key>,
    tally: Mutex<Tally>,
    plan: Mutex<Plan>,
    pub(super) news: Condvar,
    /// Held by who carries out what is planned, and by who ends a slice.
    pub(super) hand: Mutex<()>,
    /// Of an action that nobody waited for.
    trouble: Mutex<Option<DesktopError>>,
    pub(super) stream: Mutex<Option<Arc<FrameStream>>>,
    pub(super) cancelled: CancellationToken,
    pub(super) cut: OnceLock<()>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    pub(super) fn new(
        desktop: Arc<Desktop>,
        config: &PlayConfig,
        stop: Stop,
    ) -> Result<Self, DesktopError> {
        let (delay, brakes) = match config.clock {
            WorldClock::Realtime => (None, None),
            WorldClock::Latency { delay } => (Some(delay.duration()), None),
            WorldClock::Paused { slice } => {
                let world = config.world.clone().ok_or_else(|| {
                    DesktopError::Invalid(
                        "the clock is `paused`, but nothing is there that could be: this needs a \
                         world whose processes Agon has started"
                            .to_owned(),
                    )
                })?;
                let slice = slice.duration();
                (None, Some(Brakes { world, slice }))
            }
        };
        Ok(Self {
            desktop,
            stop,
            seed: config.seed,
            keep: (config.frames as usize).clamp(1, MOST_FRAMES),
            delay,
            brakes,
            pedal: Mutex::default(),
            reserved: config.panic_key,
            tally: Mutex::default(),
            plan: Mutex::new(Plan::begin(Instant::now())),
            news: Condvar::new(),
            hand: Mutex::default(),
            trouble: Mutex::default(),
            stream: Mutex::default(),
            cancelled: CancellationToken::new(),
            cut: OnceLock::new(),
        })
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        lock(&self.tally)
    }

    pub(super) fn plan(&self) -> MutexGuard<'_, Plan> {
        lock(&self.plan)
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.is_set() || self.cut.get().is_some()
    }

    pub(super) fn check(&self) -> Result<(), PlayError> {
        if self.is_over() {
            return Err(PlayError::Stopped);
        }
        Ok(())
    }

    /// What came of asking the desktop: all that fails after the stop fails because of it.
    pub(super) fn judge<T>(&self, done: Result<T, DesktopError>) -> Result<T, PlayError> {
        match done {
            Ok(done) => Ok(done),
            Err(_) if self.is_over() => Err(PlayError::Stopped),
            Err(error) => Err(error.into()),
        }
    }

    /// Does something now, or a little later where the clock says so.
    pub(super) fn act(&self, act: Act) -> Result<(), PlayError> {
        self.check()?;
        self.refuse_reserved(&act)?;
        if let Some(delay) = self.delay {
            let wait = Wait::Delayed;
            self.plan_for(delay, Planned { act, wait })?;
            let trouble = lock(&self.trouble).take();
            return trouble.map_or(Ok(()), |error| self.judge(Err(error)));
        }
        self.judge(act.carry_out(&self.desktop))?;
        self.tally().acts(monotonic());
        self.plan().done(&act);
        Ok(())
    }

    /// Does something `after` some of the world's time.
    pub(super) fn appoint(&self, after: Duration, act: Act) -> Result<(), PlayError> {
        self.check()?;
        self.refuse_reserved(&act)?;
        let wait = Wait::Appointed;
        let delay = self.delay.unwrap_or_default();
        self.plan_for(after.saturating_add(delay), Planned { act, wait })?;
        self.tally().scheduled += 1;
        Ok(())
    }

    fn plan_for(&self, after: Duration, planned: Planned) -> Result<(), PlayError> {
        if !self.plan().add(Instant::now(), after, planned) {
            return Err(PlayError::Agent(
                "too many actions are scheduled: wait until some are done".to_owned(),
            ));
        }
        self.news.notify_all();
        Ok(())
    }

    fn refuse_reserved(&self, act: &Act) -> Result<(), PlayError> {
        match self.reserved {
            Some(key) if act.presses(key) => Err(PlayError::Desktop(DesktopError::Invalid(
                format!("{key} is the panic key of this play: only people press it"),
            ))),
            _ => Ok(()),
        }
    }

    /// Carries out what is planned, on time, until the play is cut. For a thread of its own.
    pub(super) fn keep_appointments(&self) {
        let mut plan = self.plan();
        loop {
            let left = match plan.next(Instant::now()) {
                Next::Closed => return,
                Next::Now(planned, late) => {
                    // Taken before the plan is let go: who ends the slice waits for what was begun.
                    let hand = lock(&self.hand);
                    drop(plan);
                    self.carry_out(&planned, late);
                    drop(hand);
                    plan = self.plan();
                    continue;
                }
                Next::In(left) => left,
                Next::Nothing => LONG,
            };
            let waited = self.news.wait_timeout(plan, left);
            (plan, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn carry_out(&self, planned: &Planned, late: Duration) {
        let appointed = planned.wait == Wait::Appointed;
        if self.is_over() {
            self.tally().scheduled_dropped += u64::from(appointed);
            return;
        }
        match planned.act.carry_out(&self.desktop) {
            Ok(()) if appointed => self.tally().keeps_appointment(late),
            Ok(()) => self.tally().acts(monotonic()),
            Err(error) => {
                self.tally().scheduled_dropped += u64::from(appointed);
                lock(&self.trouble).get_or_insert(error);
                return;
            }
        }
        self.plan().done(&planned.act);
    }
}
