//! What an evaluator's hooks are given: eyes and hands on the judged desktop, the signal to stop, and
//! a place for evidence. One for each task; after the task it is cut off.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agon_agent::play::Stop;
use agon_core::Usage;
use agon_core::screen::Picture;
use agon_core::sight::Look;
use agon_desktop::screen::{Frame, PictureFormat};
use agon_desktop::{Desktop, DesktopError, DisplayAddress};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::evaluator::JudgeError;
use crate::report::{Asked, store_frame};
use crate::result::StopReason;

/// So many judgements of a task are kept, and so many calls of models; more are counted.
const MOST_LOOKS: usize = 2_000;

#[derive(Debug)]
pub struct Judging {
    display: Option<DisplayAddress>,
    desktop: Mutex<Connection>,
    /// Held by who connects, which may take long.
    connecting: Mutex<()>,
    stop: Stop,
    /// Where evidence goes.
    frames: Option<PathBuf>,
    looks: Mutex<Looks>,
    lead: Mutex<Duration>,
    ended: OnceLock<StopReason>,
}

#[derive(Debug)]
enum Connection {
    /// Not all evaluators look at a screen.
    Unopened,
    Open(Arc<Desktop>),
    Cut,
}

/// The judgements of a task, in their order, and the calls of models that were made for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Looks {
    pub kept: Vec<Look>,
    pub left_out: u64,
    pub calls: Vec<Asked>,
    pub calls_left_out: u64,
    /// Of all calls, those that are left out too.
    pub usage: Usage,
}

/// A connection that was cut off from its hooks, but not from the desktop.
#[derive(Debug)]
pub(crate) struct Held(Arc<Desktop>);

impl Held {
    /// Releases what is held and hangs up. Waits for the desktop's answers.
    pub(crate) fn let_go(self) {
        // A desktop that is gone holds nothing.
        let _ = self.0.keyboard().release_all();
        self.0.hang_up();
    }
}

impl Judging {
    /// Without a display it is that of `$DISPLAY`; without a folder no frames are stored.
    pub fn new(display: Option<DisplayAddress>, stop: Stop, frames: Option<PathBuf>) -> Self {
        Self {
            display,
            desktop: Mutex::new(Connection::Unopened),
            connecting: Mutex::default(),
            stop,
            frames,
            looks: Mutex::default(),
            lead: Mutex::default(),
            ended: OnceLock::new(),
        }
    }

    /// The judged desktop, over a connection that only this task's hooks have. The first call connects.
    pub fn desktop(&self) -> Result<Arc<Desktop>, JudgeError> {
        let connecting = &self.connecting;
        let _connecting = match self.opened()? {
            Some(desktop) => return Ok(desktop),
            None => connecting.lock().unwrap_or_else(PoisonError::into_inner),
        };
        // Another hook may have connected in the meantime.
        if let Some(desktop) = self.opened()? {
            return Ok(desktop);
        }
        let address = match &self.display {
            Some(address) => address.clone(),
            None => DisplayAddress::from_environment().map_err(JudgeError::NoDesktop)?,
        };
        let desktop = Arc::new(Desktop::connect(&address).map_err(JudgeError::NoDesktop)?);
        match &mut *self.connection() {
            Connection::Cut => Err(JudgeError::Stopped),
            connection => {
                *connection = Connection::Open(Arc::clone(&desktop));
                Ok(desktop)
            }
        }
    }

    fn opened(&self) -> Result<Option<Arc<Desktop>>, JudgeError> {
        match &*self.connection() {
            Connection::Open(desktop) => Ok(Some(Arc::clone(desktop))),
            Connection::Cut => Err(JudgeError::Stopped),
            Connection::Unopened => Ok(None),
        }
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

    /// Why the play ended; `None` before its end.
    pub fn ended(&self) -> Option<StopReason> {
        self.ended.get().copied()
    }

    /// The first one counts.
    pub(crate) fn set_ended(&self, reason: StopReason) {
        let _ = self.ended.set(reason);
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
        let picture = self.store(&look.picture)?;
        self.looks().kept.push(Look { picture, ..look });
        Ok(())
    }

    /// Keeps a call of a model with the picture that it was asked about.
    pub fn keep_call(&self, call: Asked) -> Result<(), JudgeError> {
        {
            let mut looks = self.looks();
            looks.usage += &call.usage;
            if looks.calls.len() >= MOST_LOOKS {
                looks.calls_left_out += 1;
                return Ok(());
            }
        }
        let picture = self.store(&call.picture)?;
        self.looks().calls.push(Asked { picture, ..call });
        Ok(())
    }

    /// In memory its digest is enough.
    fn store(&self, picture: &Picture) -> Result<Picture, JudgeError> {
        if let Some(folder) = &self.frames {
            store_frame(folder, picture).map_err(JudgeError::Evidence)?;
        }
        Ok(picture.without_data())
    }

    /// What was kept.
    pub fn take_looks(&self) -> Looks {
        std::mem::take(&mut *self.looks())
    }

    /// Whether hooks are to act by name on the judged desktop.
    pub(crate) const fn has_display(&self) -> bool {
        self.display.is_some()
    }

    /// No hook is given the desktop any more. Whoever cuts lets it go, which may take a while; until
    /// then a hook that still runs reaches it.
    pub(crate) fn cut(&self) -> Option<Held> {
        match std::mem::replace(&mut *self.connection(), Connection::Cut) {
            Connection::Open(desktop) => Some(Held(desktop)),
            Connection::Unopened | Connection::Cut => None,
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.desktop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc;
    use std::thread;

    use agon_desktop::Cookie;

    use super::*;

    #[test]
    fn a_desktop_that_does_not_answer_holds_nobody_up_who_cuts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("X0");
        let silent = UnixListener::bind(&path).unwrap();
        let cookie = Cookie::random();
        let address = DisplayAddress::Socket { path, cookie };
        let judging = Arc::new(Judging::new(Some(address), Stop::new(), None));
        let hook = {
            let judging = Arc::clone(&judging);
            thread::spawn(move || judging.desktop().map(drop))
        };
        // It connects, and is answered nothing.
        let (stream, _) = silent.accept().unwrap();
        let (tell, told) = mpsc::channel();
        let cutting = thread::spawn(move || tell.send(judging.cut().is_none()));
        let cut = told.recv_timeout(Duration::from_secs(5));
        drop((stream, silent));
        assert!(hook.join().unwrap().is_err());
        cutting.join().unwrap().unwrap();
        assert_eq!(cut, Ok(true));
    }
}
