//! What a player is given: eyes, hands, a clock and the signal to stop.

use std::sync::Arc;
use std::time::Duration;

use agon_desktop::screen::{Frame, FrameStream, PictureFormat};
use agon_desktop::{Desktop, Key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio_util::sync::CancellationToken;

use super::act::Act;
use super::contract::PlayError;
use super::core::Core;
use super::input::{PlayKeyboard, PlayMouse};
use super::stop::Stop;
use super::window::PlayWindow;

/// How long the first picture of a screen may take.
const FIRST_FRAME: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Play {
    core: Arc<Core>,
    window: String,
    /// How many frames the stream had lost when it was asked last.
    lost: u64,
    /// How many frames it had captured then.
    looked: u64,
}

impl Play {
    pub(super) fn new(core: Arc<Core>, window: String) -> Self {
        Self {
            core,
            window,
            lost: 0,
            looked: 0,
        }
    }

    /// The desktop itself, for what is called by name. Cut off when the play ends. What is done with it
    /// directly is neither delayed nor counted.
    pub fn desktop(&self) -> &Arc<Desktop> {
        &self.core.desktop
    }

    pub fn stop(&self) -> &Stop {
        &self.core.stop
    }

    pub fn stopped(&self) -> bool {
        self.core.is_over()
    }

    /// Cancelled at the stop: for asynchronous code.
    pub fn cancelled(&self) -> &CancellationToken {
        self.core.cancelled()
    }

    /// Time of the world since the first step.
    pub fn elapsed(&self) -> Duration {
        self.core.elapsed()
    }

    /// How much later than asked every action is carried out: [`agon_core::WorldClock::Latency`].
    pub fn delay(&self) -> Duration {
        self.core.delay.unwrap_or_default()
    }

    /// The same for every try of the same trial.
    pub fn seed(&self) -> u64 {
        self.core.seed
    }

    /// The whole screen as it is now.
    pub fn frame(&mut self) -> Result<Arc<Frame>, PlayError> {
        self.core.check()?;
        let frame = self.core.judge(self.core.desktop.screen().capture())?;
        self.core.tally().sees(frame.at());
        Ok(Arc::new(frame))
    }

    /// The screen as it is now, as PNG in base64.
    pub fn frame_base64(&mut self) -> Result<String, PlayError> {
        let picture = self.frame()?.encode(PictureFormat::Png);
        Ok(STANDARD.encode(self.core.judge(picture)?))
    }

    /// The screen as soon as it has changed since this was called last; the newest one where it has
    /// changed several times. `None` when it did not in that time.
    pub fn next_frame(&mut self, within: Duration) -> Result<Option<Arc<Frame>>, PlayError> {
        let stream = self.core.stream()?;
        let Some(mut newest) = self.core.judge(stream.next(within))? else {
            self.core.check()?;
            return Ok(None);
        };
        let mut skipped = Vec::new();
        while let Some(newer) = self.core.judge(stream.next(Duration::ZERO))? {
            skipped.push(newest.at());
            newest = newer;
        }
        let lost = self.lost(&stream);
        self.looked = stream.captured();
        let mut tally = self.core.tally();
        tally.misses(lost, &skipped);
        tally.sees(newest.at());
        drop(tally);
        Ok(Some(newest))
    }

    /// The last `n` different looks of the screen, the newest last; fewer when there are no more.
    pub fn frames(&mut self, n: usize) -> Result<Vec<Arc<Frame>>, PlayError> {
        let stream = self.core.stream()?;
        if n > 0 && stream.captured() == 0 {
            self.core.judge(stream.next(FIRST_FRAME))?;
        }
        self.core.check()?;
        let captured = stream.captured();
        let frames = stream.last(n);
        let new = captured.saturating_sub(self.looked);
        self.looked = captured;
        self.lost(&stream);
        let mut tally = self.core.tally();
        tally.misses(new.saturating_sub(frames.len() as u64), &[]);
        for frame in &frames {
            tally.sees(frame.at());
        }
        drop(tally);
        Ok(frames)
    }

    /// How many frames the stream has lost since this was asked last.
    fn lost(&mut self, stream: &FrameStream) -> u64 {
        let lost = stream.dropped();
        lost.saturating_sub(std::mem::replace(&mut self.lost, lost))
    }

    /// The window that is played.
    pub fn window(&self) -> PlayWindow<'_> {
        PlayWindow::new(&self.core, &self.window)
    }

    pub fn keyboard(&self) -> PlayKeyboard<'_> {
        PlayKeyboard::new(&self.core)
    }

    pub fn mouse(&self) -> PlayMouse<'_> {
        PlayMouse::new(&self.core)
    }

    /// Presses a key after so much of the world's time, while the player goes on. It is not pressed
    /// when the play has ended by then or, where the world stands still between steps, when the slice
    /// after this step is shorter.
    pub fn press_at(&self, after: Duration, key: Key) -> Result<(), PlayError> {
        self.core.appoint(after, Act::Press(key))
    }

    /// As [`Play::press_at`]; but at the end of a slice a key that is down is released at once.
    pub fn release_at(&self, after: Duration, key: Key) -> Result<(), PlayError> {
        self.core.appoint(after, Act::Release(key))
    }

    /// Two scheduled actions: a press, and a release `hold` later.
    pub fn tap_at(&self, after: Duration, key: Key, hold: Duration) -> Result<(), PlayError> {
        self.press_at(after, key)?;
        self.release_at(after.saturating_add(hold), key)
    }

    /// Lets so much of the world's time go by; ends early, with an error, when the play does.
    pub fn sleep(&self, time: Duration) -> Result<(), PlayError> {
        self.core.sleep(time)
    }
}
