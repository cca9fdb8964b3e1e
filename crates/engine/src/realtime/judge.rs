//! Judges every so often whether the world has ended, on a fresh picture that is kept. Judging takes its
//! time and is done elsewhere, one judgement at a time.

use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agon_agent::play::{Cause, Stop};
use agon_core::screen::{Picture, PictureFormat};
use agon_core::sight::AppView;
use agon_core::{Fault, FaultClass, Look, Realtime, SightTest, Task};
use agon_desktop::screen::CaptureOptions;
use agon_desktop::{Desktop, DesktopError};
use agon_grade::sight::{Sight, SightError, SightFinding, judge};
use agon_store::RunWriter;
use agon_vision::Image;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep, sleep_until};

use super::brake::Brake;
use super::reports::{Report, Reporter};
use crate::apps::Apps;
use crate::gui::windows;

/// How often in a row a broken connection is made anew, and after which pause.
const AGAIN: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);

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

    /// From here on, changes are those since this picture. Before, nothing has changed.
    pub(super) fn compare_with(&mut self, first: &Picture) -> Result<(), Fault> {
        let data = first.data().unwrap_or_default();
        let image =
            Image::from_png(data).map_err(|error| Fault::new(FaultClass::Internal, error))?;
        self.first = Some(Arc::new(image));
        Ok(())
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
    fn states(&self, apps: &Apps) -> Vec<AppView> {
        let asked = |test: &SightTest| matches!(test, SightTest::Process { .. });
        if self.ends().iter().any(asked) {
            apps.states()
        } else {
            Vec::new()
        }
    }

    /// One judgement, done elsewhere. `played` is time of the world.
    pub(super) async fn look(
        &self,
        apps: &Apps,
        played: Option<Duration>,
    ) -> Result<Judgement, Blind> {
        let apps = self.states(apps);
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
        // As the first picture was taken, and the last will be.
        let frame = self.desktop.screen().capture_with(&CaptureOptions {
            cursor: true,
            ..CaptureOptions::default()
        })?;
        let size = frame.size();
        let image = Image::from_bgrx(size.width, size.height, frame.pixels())
            .map_err(|error| Blind::Fault(Fault::new(FaultClass::Internal, error)))?;
        let windows = windows(&self.desktop)?;
        let sight = Sight {
            last: Arc::new(image),
            first: self.first.clone(),
            around: windows.with(apps),
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
        let compares = |test: &&SightTest| matches!(test, SightTest::Changed { .. });
        let ends = rules.ends.on_host().iter();
        for test in ends.filter(|test| self.first.is_some() || !compares(test)) {
            let found = match judge(test, &sight) {
                // Every X client can do that, and the world is not over because of it.
                Err(error) if error.is_of_size() && sight.was_resized() => {
                    SightFinding::too_much(error.to_string())
                }
                found => found.map_err(unanswered)?,
            };
            if shows_the_end(found.holds, found.doubt.as_deref()) && judgement.over.is_none() {
                judgement.over = Some(format!("{}: {}", test.label(), found.found));
            }
            let doubt = found.disbelief().map(str::to_owned);
            judgement.looks.push(Look {
                test: test.label(),
                holds: found.holds,
                found: found.found,
                value: found.value,
                confidence: found.confidence,
                doubt,
                picture: picture.clone(),
            });
        }
        Ok(judgement)
    }

    /// A new connection in place of a broken one.
    async fn reconnect(&mut self) -> Result<(), DesktopError> {
        let address = self.desktop.address().clone();
        let connected = spawn_blocking(move || Desktop::connect(&address)).await;
        let lost = |error: JoinError| DesktopError::Gone(error.to_string());
        self.desktop = Arc::new(connected.map_err(lost)??);
        Ok(())
    }

    /// A look, over another connection where that breaks: any program on a desktop can cut others off.
    /// The error is the last of several in a row.
    async fn look_again(
        &mut self,
        apps: &Apps,
        played: impl Fn() -> Duration,
        reporter: &Reporter,
    ) -> Result<Judgement, Blind> {
        let mut looked = self.look(apps, Some(played())).await;
        for _ in 0..AGAIN {
            let Err(Blind::Desktop(error)) = &looked else {
                break;
            };
            let note = format!("whoever judges the screen lost it, and looks again: {error}");
            // Nobody reads it any more when the play is over.
            let _ = reporter.send(Report::Note(note));
            sleep(PAUSE).await;
            looked = match self.reconnect().await {
                Ok(()) => self.look(apps, Some(played())).await,
                Err(error) => Err(error.into()),
            };
        }
        looked
    }

    /// Looks every so often, and stops the play when the world has ended, or can't be seen any more:
    /// why is left in `blinded`.
    pub(super) async fn watch(
        mut self,
        apps: &Apps,
        brake: &Brake<'_>,
        stop: &Stop,
        reporter: &Reporter,
        blinded: &OnceLock<String>,
    ) -> Infallible {
        let Some(rules) = self.rules().filter(|_| self.asks_anything()) else {
            return pending().await;
        };
        let interval = rules.interval.duration();
        let mut next = Instant::now() + interval;
        loop {
            sleep_until(next).await;
            let report = match self.look_again(apps, || brake.world(), reporter).await {
                Ok(Judgement { looks, over }) => {
                    if over.is_some() {
                        stop.ask(Cause::EnvEnded);
                    }
                    Report::Looks(looks)
                }
                Err(Blind::Desktop(error)) => {
                    blinded.get_or_init(|| error.to_string());
                    stop.ask(Cause::Asked);
                    return pending().await;
                }
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

/// What is doubted was not seen: the world goes on until somebody is sure.
fn shows_the_end(holds: bool, doubt: Option<&str>) -> bool {
    holds && doubt.is_none()
}

#[cfg(test)]
mod tests {
    use agon_core::files::FileTree;
    use agon_core::sight::TitleTest;
    use agon_core::{Environment, EnvironmentKind, HostOnly, Seconds, TaskId, WorldClock};
    use agon_desktop::DesktopConfig;
    use agon_store::RunFolder;

    use super::super::reports::reports;
    use super::*;

    /// Over when there is a window that there never is, or when anything has changed.
    fn task() -> Task {
        let window = SightTest::Window {
            title: TitleTest::Contains("GAME OVER".to_owned()),
            exists: true,
        };
        let changed = SightTest::Changed {
            region: None,
            share: 0.5,
            changed: false,
        };
        Task {
            realtime: Some(Realtime {
                window: None,
                clock: WorldClock::Realtime,
                begin: None,
                ends: HostOnly::new(vec![window, changed]),
                templates: HostOnly::new(FileTree::default()),
                interval: Seconds::millis(10),
                frames: 1,
            }),
            ..Task::plain(
                TaskId::parse("test/judge").unwrap(),
                "",
                Environment::of_kind(EnvironmentKind::Desktop),
            )
        }
    }

    #[tokio::test]
    async fn a_broken_connection_is_made_anew_and_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let writer = RunWriter::open(&RunFolder::at(folder.path())).unwrap();
        let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
        let mut judge = Judge::new(&desktop, &Arc::new(task()), &writer).unwrap();
        let (reporter, mut reports) = reports();
        let apps = Apps::default();
        let played = || Duration::ZERO;

        judge.desktop.hang_up();
        let judged = judge.look_again(&apps, played, &reporter).await.unwrap();
        // Nothing can have changed while there is nothing to compare with.
        assert_eq!((judged.looks.len(), judged.over), (1, None));
        assert!(matches!(reports.rest()[..], [Report::Note(_)]));

        desktop.end();
        let judged = judge.look_again(&apps, played, &reporter).await;
        assert!(matches!(judged, Err(Blind::Desktop(_))), "{judged:?}");
        assert_eq!(reports.rest().len(), AGAIN as usize);
    }

    #[test]
    fn what_is_doubted_is_no_end() {
        assert!(shows_the_end(true, None));
        assert!(!shows_the_end(true, Some("more seconds than were played")));
        assert!(!shows_the_end(false, None));
    }
}
