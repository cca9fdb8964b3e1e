//! How a play goes on and ends: the world stands still and runs, and at the end everything is let go.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_core::realtime::PlayStats;
use agon_desktop::StopSignal;
use agon_desktop::screen::{FrameStream, StreamConfig};
use tokio_util::sync::CancellationToken;

use super::act::Act;
use super::contract::PlayError;
use super::core::{Core, lock};

/// Frames per second at most. A change is seen at once unless the one before is younger than this.
const FPS: u32 = 120;

/// What an X server may take to release all keys.
const LETTING_GO: Duration = Duration::from_millis(500);

impl Core {
    /// Before a step.
    pub(super) fn begin_step(&self) -> Result<(), PlayError> {
        if self.brakes.is_some() {
            self.freeze()?;
        }
        self.plan().step(Instant::now());
        self.tally().steps += 1;
        Ok(())
    }

    /// After a step: where the world stood still, it runs for its slice.
    pub(super) fn end_step(&self) -> Result<(), PlayError> {
        let Some(brakes) = &self.brakes else {
            return Ok(());
        };
        self.run_for(brakes.slice)?;
        let rest = self.plan().clear();
        // What was due in the slice and has been begun is done to the end.
        drop(lock(&self.hand));
        self.tally().scheduled_dropped += rest.dropped;
        for key in rest.releases {
            let released = Act::Release(key).carry_out(&self.desktop);
            self.judge(released)?;
            self.tally().actions += 1;
        }
        Ok(())
    }

    /// Lets so much of the world's time go by.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), PlayError> {
        self.check()?;
        if self.plan().is_frozen() {
            return self.run_for(time);
        }
        if self.stop.wait(time) {
            return Err(PlayError::Stopped);
        }
        Ok(())
    }

    /// Lets a world run that stands still.
    fn run_for(&self, time: Duration) -> Result<(), PlayError> {
        let due = Instant::now() + time;
        self.resume()?;
        if self.stop.wait(time) {
            return Err(PlayError::Stopped);
        }
        self.freeze()?;
        let late = Instant::now().saturating_duration_since(due);
        self.tally().stands_still(late);
        Ok(())
    }

    fn freeze(&self) -> Result<(), PlayError> {
        let _pedal = lock(&self.pedal);
        self.check()?;
        if let Some(brakes) = &self.brakes
            && !self.plan().is_frozen()
        {
            let failed = |why| PlayError::World(format!("the world does not stand still: {why}"));
            brakes.world.freeze().map_err(failed)?;
            self.plan().freeze(Instant::now());
        }
        Ok(())
    }

    fn resume(&self) -> Result<(), PlayError> {
        let _pedal = lock(&self.pedal);
        self.check()?;
        if let Some(brakes) = &self.brakes
            && self.plan().is_frozen()
        {
            let failed = |why| PlayError::World(format!("the world does not go on: {why}"));
            brakes.world.resume().map_err(failed)?;
            self.plan().resume(Instant::now());
            self.news.notify_all();
        }
        Ok(())
    }

    /// A server that does not answer, because a program keeps it to itself, is not waited for.
    fn let_go(&self) {
        let (desktop, done) = (Arc::clone(&self.desktop), Arc::new(StopSignal::default()));
        let is_done = Arc::clone(&done);
        let watch = move || {
            if !is_done.wait(LETTING_GO) {
                desktop.hang_up();
            }
        };
        let watcher = thread::Builder::new().name("agon-let-go".to_owned());
        if watcher.spawn(watch).is_err() {
            self.desktop.hang_up();
        }
        self.desktop.let_go();
        done.set();
    }

    /// Changed frames, from the first time that somebody asks for them.
    pub(super) fn stream(&self) -> Result<Arc<FrameStream>, PlayError> {
        let mut stream = lock(&self.stream);
        self.check()?;
        if let Some(stream) = &*stream {
            return Ok(Arc::clone(stream));
        }
        let config = StreamConfig {
            fps: FPS,
            cursor: false,
            keep: self.keep,
        };
        let started = Arc::new(self.judge(self.desktop.screen().stream(config))?);
        *stream = Some(Arc::clone(&started));
        Ok(started)
    }

    /// Time of the world since the first step.
    pub(super) fn elapsed(&self) -> Duration {
        self.plan().elapsed(Instant::now())
    }

    pub(super) fn stats(&self) -> PlayStats {
        let now = Instant::now();
        let (elapsed, hidden) = {
            let plan = self.plan();
            (plan.elapsed(now), plan.hidden(now))
        };
        self.tally().stats(elapsed, hidden)
    }

    /// Cancelled when the play is cut.
    pub(super) fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.get().is_some()
    }

    /// Releases all keys, then hangs up: when this comes back, the player can't press any, whatever it
    /// does. Who calls it a second time waits for the first.
    pub(super) fn cut(&self) {
        self.cut.get_or_init(|| {
            let dropped = self.plan().close(Instant::now());
            self.let_go();
            self.news.notify_all();
            self.tally().scheduled_dropped += dropped;
            self.cancelled.cancel();
            if let Some(stream) = lock(&self.stream).take() {
                stream.end();
            }
            if let Some(brakes) = &self.brakes {
                let _pedal = lock(&self.pedal);
                // One that can't go on ends with its desktop.
                let _ = brakes.world.resume();
            }
        });
    }
}
