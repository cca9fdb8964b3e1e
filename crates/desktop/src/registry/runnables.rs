//! The runnables that are always there: `gst/screen_capture`, which hands out a picture when asked.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::callables::picture;
use super::listeners::{PARAMETERS, ScreenConfig};
use super::runnable::{Run, RunnableKind};
use super::shelf::Registry;
use crate::desktop::Desktop;
use crate::error::DesktopError;
use crate::listen::StopSignal;
use crate::screen::Frame;

/// How long a picture is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn put(registry: &Registry<RunnableKind>) {
    let capture = RunnableKind::described(
        PARAMETERS,
        "Captures the screen or a window when asked: grab() waits at most 1 s for a new frame.",
        |context, config: ScreenConfig| {
            let desktop = context.desktop()?;
            config.check(&desktop)?;
            let (asked, questions) = channel();
            let run: Arc<dyn Run> = Arc::new(ScreenCapture {
                desktop,
                config,
                asked: Mutex::new(asked),
                questions: Mutex::new(questions),
            });
            Ok(run)
        },
    );
    registry.put("gst/screen_capture", Some("screen_capture"), capture);
}

type Grabbed = Result<Arc<Frame>, DesktopError>;

/// `None` only wakes.
type Question = Option<Sender<Grabbed>>;

struct ScreenCapture {
    desktop: Arc<Desktop>,
    config: ScreenConfig,
    asked: Mutex<Sender<Question>>,
    questions: Mutex<Receiver<Question>>,
}

impl ScreenCapture {
    fn ask(&self, question: Question) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // The other end lives as long as this.
        let _ = asked.send(question);
    }
}

impl Run for ScreenCapture {
    fn run(&self, stop: &StopSignal) -> Result<(), DesktopError> {
        let questions = self
            .questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut due = Instant::now();
        while !stop.is_set() {
            let Ok(Some(answer)) = questions.recv() else {
                continue;
            };
            // Not more often than was asked for.
            if stop.wait(due.saturating_duration_since(Instant::now())) {
                break;
            }
            due = Instant::now() + self.config.period();
            let frame = match self.config.capture(&self.desktop) {
                Ok(Some(frame)) => Ok(Arc::new(frame)),
                Ok(None) => Err(DesktopError::Invalid("the window can't be seen".to_owned())),
                Err(error) => Err(error),
            };
            // Nobody waits any more: then nobody is told.
            let _ = answer.send(frame);
        }
        Ok(())
    }

    fn wake(&self) {
        self.ask(None);
    }

    fn call(&self, method: &str, args: Value) -> Result<Value, DesktopError> {
        let none = args.as_array().is_none_or(Vec::is_empty);
        match method {
            "grab" if none => picture(&*self.grab()?),
            "grab" => Err(DesktopError::Invalid(
                "grab() takes no arguments".to_owned(),
            )),
            other => Err(DesktopError::Invalid(format!(
                "there is no method `{other}`: there is grab"
            ))),
        }
    }

    fn grab(&self) -> Grabbed {
        let (answer, answered) = channel();
        self.ask(Some(answer));
        match answered.recv_timeout(PATIENCE) {
            Ok(grabbed) => grabbed,
            Err(RecvTimeoutError::Timeout) => Err(DesktopError::Timeout {
                what: "grabbing a frame".to_owned(),
                within: PATIENCE,
            }),
            Err(RecvTimeoutError::Disconnected) => {
                Err(DesktopError::Gone("the capture was stopped".to_owned()))
            }
        }
    }
}
