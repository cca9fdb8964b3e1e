//! Judges every so often whether the world has ended, on a fresh picture that is kept. Judging takes its
//! time and is done elsewhere, one judgement at a time.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use agon_agent::play::{Cause, Stop};
use agon_core::screen::{Picture, PictureFormat};
use agon_core::sight::AppView;
use agon_core::{Fault, FaultClass, Look, Realtime, SightTest, Surroundings, Task};
use agon_desktop::{Desktop, DesktopError};
use agon_grade::sight::{Sight, SightError, judge};
use agon_sandbox::Sandbox;
use agon_store::RunWriter;
use agon_vision::Image;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::reports::{Report, Reporter};
use crate::apps;
use crate::gui::windows;

/// Blocks while it looks. A copy judges the same.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    /// A connection of its own: nobody waits for it.
    desktop: Arc<Desktop>,
    task: Arc<Task>,
    writer: RunWriter,
    /// What the screen is compared with.
    first: Option<Arc<Image>>,
}

/// What a look came to.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) looks: Vec<Look>,
    /// The first test that holds, in words.
    pub(super) over: Option<String>,
}

/// Why nothing could be judged.
#[derive(Debug)]
pub(super) enum Blind {
    Desktop(DesktopError),
    Record(std::io::Error),
    Fault(Fault),
}

impl From<DesktopError> for Blind {
    fn from(error: DesktopError) -> Self {
        Self::Desktop(error)
    }
}

impl Judge {
    /// Blocks.
    pub(super) fn new(
        desktop: &Desktop,
        task: &Arc<Task>,
        writer: &RunWriter,
    ) -> Result<Self, DesktopError> {
        Ok(Self {
            desktop: Arc::new(Desktop::connect(desktop.address())?),
            task: Arc::clone(task),
            writer: writer.clone(),
            first: None,
        })
    }

    /// From here on, changes are those since this picture.
    pub(super) fn compare_with(&mut self, first: &Picture) {
        let image = first.data().and_then(|data| Image::from_png(data).ok());
        self.first = image.map(Arc::new);
    }

    fn rules(&self) -> Option<&Realtime> {
        self.task.realtime.as_ref()
    }

    fn ends(&self) -> &[SightTest] {
        self.rules().map_or(&[], |rules| rules.ends.on_host())
    }

    pub(super) fn asks_anything(&self) -> bool {
        !self.ends().is_empty()
    }

    /// The programs as they are now, where they are asked for.
    async fn apps(&self, sandbox: &dyn Sandbox) -> Vec<AppView> {
        let asked = |test: &SightTest| matches!(test, SightTest::Process { .. });
        if self.ends().iter().any(asked) {
            apps::states(sandbox, &self.task.environment.apps).await
        } else {
            Vec::new()
        }
    }

    /// One judgement, done elsewhere.
    pub(super) async fn look(
        &self,
        sandbox: &dyn Sandbox,
        played: Option<Duration>,
    ) -> Result<Judgement, Blind> {
        let apps = self.apps(sandbox).await;
        let judge = self.clone();
        let judged = spawn_blocking(move || judge.judge(apps, played)).await;
        judged.unwrap_or_else(|error| Err(Blind::Fault(Fault::new(FaultClass::Internal, error))))
    }

    fn judge(&self, apps: Vec<AppView>, played: Option<Duration>) -> Result<Judgement, Blind> {
        let Some(rules) = self.rules() else {
            return Ok(Judgement {
                looks: Vec::new(),
                over: None,
            });
        };
        let frame = self.desktop.screen().capture()?;
        let size = frame.size();
        let image = Image::from_bgrx(size.width, size.height, frame.pixels())
            .map_err(|error| Blind::Fault(Fault::new(FaultClass::Internal, error)))?;
        let windows = windows(&self.desktop)?;
        let sight = Sight {
            last: Arc::new(image),
            first: self.first.clone(),
            around: Surroundings { windows, apps },
            played,
            files: rules.templates.on_host(),
        };
        let encoded = frame.encode(agon_desktop::screen::PictureFormat::Png)?;
        let picture = Picture::new(PictureFormat::Png, encoded);
        self.writer.keep_picture(&picture).map_err(Blind::Record)?;
        let unanswered = |error: SightError| Blind::Fault(error.into());
        let mut judgement = Judgement {
            looks: Vec::new(),
            over: None,
        };
        for test in rules.ends.on_host() {
            let found = judge(test, &sight).map_err(unanswered)?;
            if found.holds && judgement.over.is_none() {
                judgement.over = Some(format!("{}: {}", test.label(), found.found));
            }
            judgement.looks.push(Look {
                test: test.label(),
                holds: found.holds,
                found: found.found,
                value: found.value,
                confidence: found.confidence,
                picture: picture.clone(),
            });
        }
        Ok(judgement)
    }

    /// Looks every so often, and stops the play when the world has ended.
    pub(super) async fn watch(
        self,
        sandbox: &dyn Sandbox,
        stop: &Stop,
        reporter: &Reporter,
    ) -> Infallible {
        let Some(rules) = self.rules().filter(|_| self.asks_anything()) else {
            return pending().await;
        };
        let (began, interval) = (Instant::now(), rules.interval.duration());
        let mut next = began + interval;
        loop {
            sleep_until(next).await;
            let report = match self.look(sandbox, Some(began.elapsed())).await {
                Ok(Judgement { looks, over }) => {
                    if over.is_some() {
                        stop.ask(Cause::EnvEnded);
                    }
                    Report::Looks(looks)
                }
                // Whoever plays finds the screen gone as well.
                Err(Blind::Desktop(_)) => return pending().await,
                Err(Blind::Record(error)) => Report::Lost(error),
                Err(Blind::Fault(fault)) => Report::Fault(fault),
            };
            let last = stop.is_set() || !matches!(report, Report::Looks(_));
            // Nobody reads it any more when the play is over.
            let _ = reporter.send(report);
            if last {
                return pending().await;
            }
            next = (next + interval).max(Instant::now());
        }
    }
}
