//! What an evaluator's hooks are given: eyes and hands on the judged desktop, the signal to stop, and
//! a place for evidence. One for each task; after the task it is cut off.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_agent::play::Stop;
use agon_core::sight::Look;
use agon_desktop::screen::{Frame, PictureFormat};
use agon_desktop::{Desktop, DesktopError, DisplayAddress};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::evaluator::JudgeError;
use crate::report::store_frame;

/// So many judgements of a task are kept; more are counted.
const MOST_LOOKS: usize = 2_000;

#[derive(Debug)]
pub struct Judging {
    display: Option<DisplayAddress>,
    desktop: Mutex<Connection>,
    stop: Stop,
    /// Where evidence goes.
    frames: Option<PathBuf>,
    looks: Mutex<Looks>,
    lead: Mutex<Duration>,
}

#[derive(Debug)]
enum Connection {
    /// Not all evaluators look at a screen.
    Unopened,
    Open(Arc<Desktop>),
    Cut,
}

/// The judgements of a task, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Looks {
    pub kept: Vec<Look>,
    pub left_out: u64,
}

impl Judging {
    /// Without a display it is that of `$DISPLAY`; without a folder no frames are stored.
    pub fn new(display: Option<DisplayAddress>, stop: Stop, frames: Option<PathBuf>) -> Self {
        Self {
            display,
            desktop: Mutex::new(Connection::Unopened),
            stop,
            frames,
            looks: Mutex::default(),
            lead: Mutex::default(),
        }
    }

    /// The judged desktop, over a connection that only this task's hooks have. The first call connects.
    pub fn desktop(&self) -> Result<Arc<Desktop>, JudgeError> {
        let mut connection = self.connection();
        match &*connection {
            Connection::Open(desktop) => return Ok(Arc::clone(desktop)),
            Connection::Cut => return Err(JudgeError::Stopped),
            Connection::Unopened => {}
        }
        let address = match &self.display {
            Some(address) => address.clone(),
            None => DisplayAddress::from_environment().map_err(JudgeError::NoDesktop)?,
        };
        let desktop = Arc::new(Desktop::connect(&address).map_err(JudgeError::NoDesktop)?);
        *connection = Connection::Open(Arc::clone(&desktop));
        Ok(desktop)
    }

    /// The whole screen now.
    pub fn frame(&self) -> Result<Frame, JudgeError> {
        Ok(self.desktop()?.screen().capture()?)
    }

    /// The first window with this in its title, now.
    pub fn window_frame(&self, title: &str) -> Result<Frame, JudgeError> {
        let desktop = self.desktop()?;
        let window = desktop.windows().find(title)?;
        let frame = desktop.screen().capture_window(window.id);
        Ok(frame.map_err(|error| match error {
            // Closed a moment ago; a window manager may list it a little longer.
            DesktopError::Invalid(_) => DesktopError::NoSuchWindow {
                wanted: title.to_owned(),
                titles: Vec::new(),
            },
            error => error,
        })?)
    }

    /// The whole screen now, as PNG in base64.
    pub fn frame_base64(&self) -> Result<String, JudgeError> {
        Ok(STANDARD.encode(self.frame()?.encode(PictureFormat::Png)?))
    }

    /// Set when the evaluation is to end. Asking it ends the evaluation.
    pub const fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Says how long before the agent the world began to move: games count from their own beginning.
    pub fn set_lead(&self, lead: Duration) {
        *self.lead.lock().unwrap_or_else(PoisonError::into_inner) = lead;
    }

    pub fn lead(&self) -> Duration {
        *self.lead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a judgement with the picture that it was made on.
    pub fn keep(&self, look: Look) -> Result<(), JudgeError> {
        if self.looks().kept.len() >= MOST_LOOKS {
            self.looks().left_out += 1;
            return Ok(());
        }
        if let Some(folder) = &self.frames {
            store_frame(folder, &look.picture).map_err(JudgeError::Evidence)?;
        }
        // In memory its digest is enough.
        let picture = look.picture.without_data();
        self.looks().kept.push(Look { picture, ..look });
        Ok(())
    }

    /// What was kept.
    pub fn take_looks(&self) -> Looks {
        std::mem::take(&mut *self.looks())
    }

    /// Whether hooks are to act by name on the judged desktop.
    pub(crate) const fn has_display(&self) -> bool {
        self.display.is_some()
    }

    /// Whether there is anything to cut.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&*self.connection(), Connection::Open(_))
    }

    /// Releases what is held and hangs up: a hook that still runs reaches nothing any more.
    pub(crate) fn cut(&self) {
        let connection = std::mem::replace(&mut *self.connection(), Connection::Cut);
        if let Connection::Open(desktop) = connection {
            // A desktop that is gone holds nothing.
            let _ = desktop.keyboard().release_all();
            desktop.hang_up();
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.desktop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
